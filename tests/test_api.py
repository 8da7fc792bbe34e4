"""The public API: small, typed, described, and imported only when it is used."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import wayhound
from wayhound.errors import MissingExtra, UsageError, WorkspaceError
from wayhound.samples import sample_web, serve_samples
from wayhound.visit import Visit

DOCS = (Path(__file__).parent.parent / "docs" / "api.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python( [\w-]+)?\n(.*?)^```$", DOCS, re.DOTALL | re.MULTILINE)


def test_every_public_name_is_described_and_no_other() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", DOCS.partition("## All names")[2], re.MULTILINE)
    described = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(described) == sorted(wayhound.__all__)
    assert len(described) == len(set(described))


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in wayhound.__all__:
        value = getattr(wayhound, name)
        assert name == "__version__" or value.__doc__, name
    assert set(wayhound.__all__) <= set(dir(wayhound))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        wayhound.nothing  # noqa: B018


def test_every_function_is_typed() -> None:
    functions = [getattr(wayhound, name) for name in wayhound.__all__ if name.islower()]
    for function in functions:
        if callable(function):
            names = function.__code__.co_varnames[
                : function.__code__.co_argcount + function.__code__.co_kwonlyargcount
            ]
            assert {*names, "return"} <= set(function.__annotations__), function.__name__
    assert typing.get_type_hints(wayhound.Visit)


def test_the_package_loads_nothing_until_it_is_used() -> None:
    script = (
        "import sys, wayhound\n"
        "assert [name for name in sys.modules if name.startswith('wayhound')] == ['wayhound']\n"
        "wayhound.open_workspace, wayhound.forage_sites, wayhound.Workspace\n"
        "assert not {'numpy', 'scipy', 'tantivy', 'pyarrow', 'fastapi'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_no_public_name_is_hidden_by_a_module_of_that_name() -> None:
    """A package's attribute becomes the submodule of that name as soon as that is imported."""
    folder = Path(str(wayhound.__file__)).parent
    modules = {path.stem for path in folder.iterdir()}
    assert not modules & set(wayhound.__all__)


def test_the_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "examples"}
    for condition, code in EXAMPLES:
        if condition.strip() == "skip-without-pandas" and importlib.util.find_spec("pandas") is None:
            continue
        exec(compile(code, "docs/api.md", "exec", dont_inherit=True), namespace)  # our own documentation
    shown = capsys.readouterr().out
    assert "Contact us · Larkin Lanterns" in shown
    assert "Visit us" in shown
    assert "8 trails on 3 sites" in shown
    assert re.search(r"^40 pages$", shown, re.MULTILINE)
    assert re.search(r"^(goal|likely) ", shown, re.MULTILINE)
    assert "added" in shown


def test_a_forage_that_is_left_stops_and_is_resumed(tmp_path: Path) -> None:
    options: wayhound.ForageOptions = {
        "budget": 8,
        "delay_seconds": 0.0,
        "allow_private": True,
        "goal": "shop",
    }
    with (
        serve_samples(sample_web()) as server,
        wayhound.open_workspace(tmp_path / "w", create=True) as workspace,
    ):
        start = f"http://lanterns.localhost:{server.port}/"
        first: list[Visit] = []
        for visit in wayhound.forage_sites(workspace, [start], **options):
            first.append(visit)
            if len(first) == 3:
                break
        rest = list(wayhound.forage_sites(workspace, wayhound.read_sites(start), **options))
        saved = list(workspace.stores.forage.visits_of(1, start))
        assert [visit.number for visit in saved] == list(range(8))
        assert rest[-1] == saved[-1]
        assert len(first) + len(rest) <= 8
        assert len(workspace.stores.forage.runs()) == 1
        options["new_run"] = True
        list(wayhound.forage_sites(workspace, [start], **options))
        assert len(workspace.stores.forage.runs()) == 2


def test_what_cannot_be_done_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="not a workspace"):
        wayhound.open_workspace(tmp_path / "none")
    with wayhound.open_workspace(tmp_path / "w", create=True) as workspace:
        with pytest.raises(UsageError, match="There is no strategy 'sorcery'"):
            wayhound.forage_sites(workspace, ["http://a.example/"], strategy="sorcery")
        with pytest.raises(wayhound.WayhoundError):
            wayhound.train(workspace)
        with pytest.raises(UsageError, match="cannot be exported"):
            wayhound.to_arrow(workspace, "nothing")
    with wayhound.open_workspace(tmp_path / "w", create=True) as again:
        assert wayhound.to_arrow(again, "goals").num_rows == 0


def test_what_the_web_does_is_no_error(tmp_path: Path) -> None:
    with wayhound.open_workspace(tmp_path / "w", create=True) as workspace:
        visits = wayhound.forage_sites(workspace, ["http://127.0.0.1:9/"], goal="x", budget=1)
        assert [visit.outcome for visit in visits] == ["refused_port"]


@pytest.mark.skipif(importlib.util.find_spec("pandas") is not None, reason="pandas is there")
def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    with (
        wayhound.open_workspace(tmp_path / "w", create=True) as workspace,
        pytest.raises(MissingExtra, match="pandas"),
    ):
        wayhound.to_pandas(workspace)
