"""The models of a workspace: by name, the last one trained, and named by what they learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayhound.errors import ModelError, UsageError
from wayhound.learn.model_file import META_NAME
from wayhound.store.model_files import ForageModels, save_model

PACKED: tuple[dict[str, Any], dict[str, Any]] = ({"weights": np.arange(3.0)}, {"labels": ["Goal"]})
OTHER: tuple[dict[str, Any], dict[str, Any]] = ({"weights": np.arange(4.0)}, {"labels": ["Goal"]})


@pytest.fixture
def models(tmp_path: Path) -> ForageModels:
    return ForageModels(tmp_path / "models")


def test_a_model_comes_back_with_its_report(models: ForageModels) -> None:
    models.save("paths", "maxent", PACKED, {"trails": 3}, at=5.0)
    arrays, learned = models.load("paths")
    assert np.array_equal(arrays["weights"], np.arange(3.0))
    assert learned == {"labels": ["Goal"]}
    card = models.card("paths")
    assert (card.strategy, card.trained_at, card.report) == ("maxent", 5.0, {"trails": 3})


def test_the_digest_tells_what_was_learned_and_not_when(models: ForageModels) -> None:
    first = models.save("paths", "maxent", PACKED, {}, at=5.0).digest
    assert models.save("paths", "maxent", PACKED, {"more": 1}, at=6.0).digest == first
    assert models.save("paths", "maxent", OTHER, {}, at=6.0).digest != first
    assert models.save("paths", "focused", PACKED, {}, at=6.0).digest != first


def test_the_last_model_is_the_one_trained_last(models: ForageModels) -> None:
    models.save("b", "maxent", PACKED, {}, at=9.0)
    models.save("a", "focused", PACKED, {}, at=10.0)
    assert models.last().name == "a"
    assert models.last("maxent").name == "b"
    assert models.names() == ["a", "b"]
    with pytest.raises(UsageError, match="no trained model for the strategy naive-bayes") as missing:
        models.last("naive-bayes")
    assert missing.value.next_step == "train --strategy naive-bayes"


def test_models_of_other_kinds_are_not_ours(models: ForageModels, tmp_path: Path) -> None:
    save_model(tmp_path / "models" / "topics", "topics", 1, {"x": np.zeros(1)}, {})
    assert models.names() == []
    with pytest.raises(ModelError, match="another kind"):
        models.card("topics")
    with pytest.raises(UsageError, match="another kind"):
        models.save("topics", "maxent", PACKED, {}, at=0.0)


@pytest.mark.parametrize("name", ["", "..", "a/b", "-x", "x" * 99, ".hidden"])
def test_a_name_that_is_none_is_refused(name: str, models: ForageModels) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        models.save(name, "maxent", PACKED, {}, at=0.0)
    with pytest.raises(UsageError, match="There is no model"):
        models.load(name)


def test_a_model_that_lacks_a_part_is_damaged(models: ForageModels, tmp_path: Path) -> None:
    save_model(tmp_path / "models" / "paths", "forage", 1, {"x": np.zeros(1)}, {"strategy": "maxent"})
    with pytest.raises(ModelError, match="lacks learned, report, trained_at"):
        models.card("paths")
    with pytest.raises(ModelError, match="lacks"):
        models.load("paths")


def test_a_changed_report_is_noticed(models: ForageModels, tmp_path: Path) -> None:
    models.save("paths", "maxent", PACKED, {"f1": 0.5}, at=0.0)
    path = tmp_path / "models" / "paths" / META_NAME
    told = json.loads(path.read_text())
    told["meta"]["report"]["f1"] = 0.9
    path.write_text(json.dumps(told))
    with pytest.raises(ModelError, match="is damaged"):
        models.card("paths")
