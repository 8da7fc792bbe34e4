"""Token CRFs against enumeration of every labelling and against CRFsuite; files; corrections."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wayhound.errors import ModelError, NotFitted, TeachingError
from wayhound.papers.field_crf import CrfWeights, TokenCRF, from_arrays, learn_corrections, pruned, to_arrays

SPLIT = ("B-a", "B-b", "I-a", "I-b")
NAMES = ("x", "y", "z")


def random_weights(seed: int, states: tuple[str, ...] = SPLIT) -> CrfWeights:
    rng = np.random.default_rng(seed)
    rows = {name: row for row, name in enumerate(NAMES)}
    return CrfWeights(states, rows, rng.normal(size=(3, len(states))), rng.normal(size=(len(states),) * 2))


def random_features(seed: int, length: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[name for name in (*NAMES, "never seen") if rng.random() < 0.6] for _ in range(length)]


def follows(before: str | None, after: str) -> bool:
    """Return True for a valid labelling: a field continues only after its beginning, and begins once."""
    if not after.startswith(("B-", "I-")):
        return True
    return (before is not None and before[2:] == after[2:]) == after.startswith("I-")


def all_labellings(model: CrfWeights, features: list[list[str]]) -> dict[tuple[str, ...], float]:
    """Return exp of the summed weights of every valid labelling, by the definition."""
    answer = {}
    for path in itertools.product(range(len(model.states)), repeat=len(features)):
        names = [model.states[state] for state in path]
        if not all(itertools.starmap(follows, itertools.pairwise([None, *names]))):
            continue
        score = sum(
            model.weights[model.rows[name], state]
            for state, seen in zip(path, features, strict=True)
            for name in seen
            if name in model.rows
        )
        score += sum(model.steps[before, after] for before, after in itertools.pairwise(path))
        answer[tuple(names)] = float(np.exp(score))
    return answer


def fields_of(names: tuple[str, ...]) -> list[str]:
    return [name.removeprefix("B-").removeprefix("I-") for name in names]


@given(seed=st.integers(0, 1000), length=st.integers(1, 5), split=st.booleans())
@settings(max_examples=40, deadline=None)
def test_labels_and_confidences_agree_with_enumerating_every_labelling(
    seed: int, length: int, split: bool
) -> None:
    model = random_weights(seed, SPLIT if split else ("a", "b", "c"))
    features = random_features(seed, length)
    every = all_labellings(model, features)
    total = sum(every.values())
    found = model.label(features)
    as_found = [weight for names, weight in every.items() if fields_of(names) == list(found.labels)]
    assert max(as_found) == pytest.approx(max(every.values()))  # labellings may tie
    for segment in found.segments:
        share = sum(
            weight
            for names, weight in every.items()
            if all(name.split("-")[-1] == segment.field for name in names[segment.first : segment.last])
        )
        assert segment.confidence == pytest.approx(share / total)


def test_marginals_agree_with_enumerating_every_labelling() -> None:
    model, features = random_weights(1), random_features(1, 4)
    every = all_labellings(model, features)
    marginals = model.marginals(features)
    for place, state in itertools.product(range(4), range(4)):
        share = sum(weight for names, weight in every.items() if names[place] == SPLIT[state])
        assert marginals[place, state] == pytest.approx(share / sum(every.values()))


def test_no_words_give_no_labels() -> None:
    assert random_weights(0).label([]).labels == ()


def texts(n: int, seed: int = 0) -> list[tuple[list[list[str]], list[str]]]:
    """Return texts in which capitalised words are names and others a title; `of` is like its neighbours."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        labels = ["author"] * int(rng.integers(1, 4)) + ["title"] * int(rng.integers(2, 6))
        features = [
            [f"w={rng.integers(20)}", "of" if rng.random() < 0.1 else f"is-{label}"] for label in labels
        ]
        made.append((features, labels))
    return made


@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
def test_a_trained_model_labels_new_texts(algorithm: str, begins: bool) -> None:
    crf = TokenCRF(algorithm=algorithm, begins=begins, max_iterations=30)  # type: ignore[arg-type]
    crf.fit(iter(texts(60)))
    asked = texts(40, seed=1)
    right = [list(crf.label(features).labels) == labels for features, labels in asked]
    assert np.mean(right) > 0.8


def test_our_answers_are_those_of_crfsuite(tmp_path: Path) -> None:
    """Without states for beginnings every labelling is valid, and the two must agree."""
    trainer = pycrfsuite.Trainer("lbfgs", {"max_iterations": 30, "c1": 0.1, "c2": 0.1}, verbose=False)
    for features, labels in texts(40):
        trainer.append(pycrfsuite.ItemSequence(features), labels)
    trainer.train(str(tmp_path / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    ours = TokenCRF(begins=False, max_iterations=30).fit(texts(40)).weights_
    for features, _ in texts(10, seed=2):
        assert list(ours.label(features).labels) == tagger.tag(pycrfsuite.ItemSequence(features))
        marginals = ours.marginals(features)
        for place in range(len(features)):
            theirs = [tagger.marginal(state, place) for state in ours.states]
            assert marginals[place] == pytest.approx(theirs, abs=1e-5)


def test_a_model_comes_back_from_its_file_as_it_went_in() -> None:
    model = TokenCRF(max_iterations=20).fit(texts(30)).weights_
    again = from_arrays(*to_arrays(model))
    assert again.states == model.states
    for features, _ in texts(10, seed=3):
        assert again.label(features).labels == model.label(features).labels
        assert again.marginals(features) == pytest.approx(model.marginals(features), abs=5e-3)


def damaged(arrays: dict[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    spoiled: dict[str, NDArray[Any]] = {
        "features": np.array([255, 254], dtype=np.uint8),
        "n_weights": np.zeros(1, dtype=np.uint8),
        "column": arrays["column"] + 50,
        "value": np.full_like(arrays["value"], np.nan),
        "steps": arrays["steps"][:-1],
    }
    return {**arrays, name: spoiled[name]}


@pytest.mark.parametrize("name", ["features", "n_weights", "column", "value", "steps"])
def test_damaged_weights_are_refused(name: str) -> None:
    arrays, meta = to_arrays(random_weights(1))
    with pytest.raises(ModelError, match="damaged"):
        from_arrays(damaged(arrays, name), meta)


def test_missing_weights_are_refused() -> None:
    arrays, meta = to_arrays(random_weights(1))
    with pytest.raises(ModelError, match="damaged"):
        from_arrays({}, meta)
    with pytest.raises(ModelError, match="damaged"):
        from_arrays(arrays, {})


def test_pruning_takes_small_weights_and_empty_features() -> None:
    model = CrfWeights(
        ("a", "b"), {"x": 0, "y": 1}, np.array([[0.5, 0.001], [0.002, -0.003]]), np.zeros((2, 2))
    )
    small = pruned(model, 0.01)
    assert small.rows == {"x": 0}
    assert small.weights.tolist() == [[0.5, 0.0]]


def test_a_correction_is_learned_and_the_rest_is_kept() -> None:
    model = TokenCRF(max_iterations=30).fit(texts(60)).weights_
    novel = ([["w=1", "note"], ["w=2", "is-author"], ["w=3", "is-title"]], ["title", "author", "title"])
    assert list(model.label(novel[0]).labels) != novel[1]
    after = learn_corrections(model, [novel])
    assert list(after.label(novel[0]).labels) == novel[1]
    asked = texts(40, seed=1)
    kept = [list(after.label(features).labels) == labels for features, labels in asked]
    assert np.mean(kept) > 0.75


def test_texts_that_come_out_right_change_nothing() -> None:
    model = TokenCRF(max_iterations=30).fit(texts(60)).weights_
    before = model.weights.copy()
    learn_corrections(model, texts(3))
    assert np.array_equal(model.weights, before)


def test_a_field_that_the_model_does_not_have_is_refused() -> None:
    with pytest.raises(TeachingError, match="phone"):
        learn_corrections(random_weights(0), [([["x"]], ["phone"])])


def test_untrained_models_and_training_without_texts_raise() -> None:
    with pytest.raises(NotFitted):
        TokenCRF().label([["x"]])
    with pytest.raises(TeachingError):
        TokenCRF().fit([])


def test_known_features_can_change_less_than_new_ones() -> None:
    model = random_weights(3)
    features = [["x", "first"], ["y", "second"]]
    found = model.label(features).labels
    right = ["b" if label == "a" else "a" for label in found]
    moved = {}
    for known in (1.0, 0.1):
        after = learn_corrections(model, [(features, right)], known_rate=known)
        assert list(after.label(features).labels) == right
        moved[known] = np.abs(after.weights[: len(NAMES)] - model.weights).max()
        assert np.abs(after.weights[after.rows["first"]]).max() > 0
    assert moved[0.1] < 0.5 * moved[1.0]
