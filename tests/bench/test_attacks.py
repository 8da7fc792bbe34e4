"""The tools that attack: mutants, random input, kills. Short runs; the targets of `make` run them for long."""

from __future__ import annotations

import ast
import json
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

import pytest

from bench.fuzz import READERS, Campaign
from bench.kills import BUDGET, Faults, damage_in, forage_with_faults, serving
from bench.mutants import ROOT, TARGETS, mutants_of
from bench.repeat_tests import Repetition, earlier_runs, in_a_row
from wayhound.workspace import Workspace


@pytest.mark.parametrize("name", READERS)
def test_every_reader_takes_its_seeds_and_changed_ones(name: str) -> None:
    campaign = Campaign(name, Random(1), list(READERS[name].seeds), None, limit=60.0)
    for body in READERS[name].seeds:
        campaign.try_one(body, keep=False)
    for _ in range(20):
        campaign.try_one(campaign.mutated(), keep=True)
    assert campaign.failures == []
    assert campaign.seen


def test_an_error_that_a_reader_does_not_announce_is_found_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(READERS, "broken", type(READERS["URL"])(lambda body: 1 / (b"x" not in body), (b"",)))
    campaign = Campaign("broken", Random(1), [b""], tmp_path, limit=60.0)
    campaign.try_one(b"an x", keep=True)
    assert len(campaign.failures) == 1
    assert [path.read_bytes() for path in tmp_path.glob("failure-*")] == [b"an x"]


def test_mutants_differ_from_the_module_in_one_place_and_can_be_parsed() -> None:
    source = "def f(a, b):\n    if a < b and not a:\n        raise ValueError\n    return a + b\n"
    found = list(mutants_of("m.py", source))
    assert {mutant.change for mutant in found} == {
        "compare", "and/or", "drop not", "never", "drop raise", "return None", "compute",
    }  # fmt: skip
    assert len({mutant.source for mutant in found}) == len(found)
    assert all(mutant.source != ast.unparse(ast.parse(source)) for mutant in found)


def test_the_targets_of_mutants_and_their_tests_exist() -> None:
    for module, tests in TARGETS.items():
        assert (ROOT / "src" / "wayhound" / module).is_file()
        assert all((ROOT / test).exists() for test in tests)


def test_a_killed_forage_is_checked_page_by_page(tmp_path: Path) -> None:
    faults = Faults(2, 0)
    with serving() as web:
        forage_with_faults(tmp_path / "w", web, faults, Random(1))
        damage = damage_in(tmp_path / "w", web)
        assert (faults.kills, damage.lost, damage.doubled, damage.off_budget) == (2, 0, 0, 0)
        assert web.overlaps == 0
        with Workspace.open(tmp_path / "w") as workspace:
            workspace.database.execute("DELETE FROM visit WHERE number = ?", (BUDGET // 2,))
            next(workspace.archive_folder.glob("*.warc.gz")).unlink()
        damage = damage_in(tmp_path / "w", web)
        assert damage.lost > 0
        assert damage.off_budget > 0


def test_a_failure_ends_the_row_of_runs_that_passed() -> None:
    passed = Repetition("code", (), True, 1.0, "1 passed")
    failed = replace(passed, passed=False)
    assert [in_a_row(runs) for runs in ([], [passed], [passed, failed], [failed, passed, passed])] == [
        0,
        1,
        0,
        2,
    ]


def test_runs_of_other_code_or_other_tests_do_not_count(tmp_path: Path) -> None:
    run, kept = Repetition("code", ("tests",), True, 1.0, "1 passed"), tmp_path / "runs.jsonl"
    others = replace(run, code="older"), replace(run, tests=())
    kept.write_text("".join(json.dumps(asdict(each)) + "\n" for each in (run, *others)))
    assert earlier_runs(kept, "code", ("tests",)) == [run]
