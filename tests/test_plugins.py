"""Plugins by entry points: a package that is really installed adds a strategy, an extractor and a kind of record."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.portal.served import serve_portal
from tests.portal.test_pages import page, texts
from wayhound.errors import PluginError
from wayhound.plugins import EXTRACTORS, Plugin, find_plugins, load_plugins
from wayhound.samples import SampleServer, sample_web, serve_samples
from wayhound.workspace import Workspace

PACKAGE = Path(__file__).parent / "data" / "plugin"
SOURCE = Path(__file__).parent.parent / "src"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the plugin was installed, without the network."""
    folder = tmp_path_factory.mktemp("installed")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run([*command, "--target", str(folder), str(PACKAGE)], check=True)
    return folder


@pytest.fixture(scope="module")
def samples() -> Iterator[SampleServer]:
    with serve_samples(sample_web()) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Workspace.create(tmp_path / "workspace").close()
    return tmp_path / "workspace"


def wayhound(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that finds the plugin beside Wayhound itself."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(installed), str(SOURCE)))}
    command = [sys.executable, "-m", "wayhound", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=120)


def forage(
    installed: Path, samples: SampleServer, folder: Path, strategy: str
) -> subprocess.CompletedProcess[str]:
    site = f"http://lanterns.localhost:{samples.port}/"
    options = ("--keyword", "contact", "--budget", "12", "--delay", "0", "--allow-private")
    return wayhound(installed, "forage", site, "-w", str(folder), "--strategy", strategy, *options)


def test_a_plugin_forages_extracts_and_is_shown_by_the_portal(
    installed: Path, samples: SampleServer, folder: Path
) -> None:
    ran = forage(installed, samples, folder, "harbour-first")
    assert ran.returncode == 0, ran.stderr
    assert "/contact-us" in ran.stdout
    indexed = wayhound(installed, "index", "-w", str(folder))
    assert indexed.returncode == 0, indexed.stderr
    with Workspace.open(folder) as workspace:
        [goal] = workspace.stores.records.iterate("page")
        phones = list(workspace.stores.records.iterate("phone"))
    assert goal.first("label") == "harbour"
    assert [phone.first("company") for phone in phones] == ["Larkin Lanterns"]
    assert (phones[0].site, phones[0].visit, phones[0].run) == (goal.site, goal.visit, goal.run)
    script = (
        "import sys; from pathlib import Path; from tests.test_plugins import show_phones; "
        "show_phones(Path(sys.argv[1]))"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(installed), str(SOURCE), str(SOURCE.parent)))
    }
    shown = subprocess.run(
        [sys.executable, "-c", script, str(folder)], check=False, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "shown" in shown.stdout


def show_phones(folder: Path) -> None:
    """Runs in a process that has the plugin: the portal knows its kind by the label that it declares."""
    with serve_portal(folder) as portal:
        hits = portal.get("/search.json?q=type:phone").json["hits"]
        assert [hit["kind_label"] for hit in hits] == ["Phone number"]
        tree = page(portal, hits[0]["url"])
        assert texts(tree, ".trail li")[-1].startswith("“Contact")
        narrowed = portal.get("/search.json?q=&filter=company:Larkin+Lanterns").json
        assert "company" in {facet["name"] for facet in narrowed["facets"]}
    sys.stdout.write("shown")


def test_what_an_extractor_made_leaves_with_its_goal(
    installed: Path, samples: SampleServer, folder: Path
) -> None:
    forage(installed, samples, folder, "harbour-first")
    with Workspace.open(folder) as workspace:
        assert list(workspace.stores.records.iterate("phone"))
        workspace.database.execute("UPDATE visit SET is_goal = 0, tier = ''")
    wayhound(installed, "index", "-w", str(folder))
    with Workspace.open(folder) as workspace:
        assert list(workspace.stores.records.iterate()) == []


def test_a_broken_extractor_is_named_and_the_others_go_on(
    installed: Path, samples: SampleServer, folder: Path
) -> None:
    forage(installed, samples, folder, "harbour-first")
    with Workspace.open(folder) as workspace:
        workspace.database.execute("UPDATE goal_page SET state = 'old'")
    ran = wayhound(installed, "index", "-w", str(folder))
    assert ran.returncode == 0
    assert (
        "The plugin 'harbour-broken' of the package wayhound-harbour 1.2 (wayhound.extractors)" in ran.stderr
    )
    assert "ValueError: no harbour here. Repair or uninstall wayhound-harbour." in ran.stderr
    assert "Traceback" not in ran.stderr
    with Workspace.open(folder) as workspace:
        assert list(workspace.stores.records.iterate("phone"))


@pytest.mark.parametrize(
    ("strategy", "complaint"),
    [
        (
            "harbour-missing",
            "cannot be loaded: ModuleNotFoundError: No module named 'wayhound_harbour.not_there'",
        ),
        ("harbour-shapeless", "cannot make a scorer: TypeError: a scorer needs the method start"),
        ("harbour-moody", "failed: RuntimeError: not today"),
    ],
)
def test_a_broken_scorer_is_named_in_one_message(
    installed: Path, samples: SampleServer, folder: Path, strategy: str, complaint: str
) -> None:
    ran = forage(installed, samples, folder, strategy)
    assert ran.returncode == 2
    assert f"The plugin '{strategy}' of the package wayhound-harbour 1.2" in ran.stderr
    assert complaint in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_strategy_that_nobody_has_is_answered_with_those_there_are(
    installed: Path, samples: SampleServer, folder: Path
) -> None:
    ran = forage(installed, samples, folder, "sorcery")
    assert ran.returncode == 2
    assert "harbour-first" in ran.stderr
    assert "breadth-first" in ran.stderr


def test_without_plugins_nothing_is_found() -> None:
    assert load_plugins(EXTRACTORS) == ({}, [])


def test_a_plugin_that_cannot_be_loaded_raises_an_error_that_names_it() -> None:
    from importlib.metadata import EntryPoint

    entry = EntryPoint("odd", "no_such_package:thing", EXTRACTORS)
    plugin = Plugin(EXTRACTORS, "odd", "odd-package", "0.1", entry)
    with pytest.raises(PluginError, match="'odd' of the package odd-package"):
        plugin.load()
    assert find_plugins(EXTRACTORS) == {}


def test_an_extractor_of_facts_spends_no_more_than_its_budget_and_resumes(
    installed: Path, samples: SampleServer, folder: Path
) -> None:
    assert forage(installed, samples, folder, "harbour-first").returncode == 0
    wanted = ("extract", "organisation:email,fax", "-w", str(folder))
    spent = wayhound(installed, *wanted, "--with", "harbour-oracle", "--money", "0.2")
    assert spent.returncode == 0, spent.stderr
    assert "read 2 pages and found 2 facts; 0 s and 0.20 spent in all. The budget is spent" in spent.stderr
    again = wayhound(installed, *wanted, "--with", "harbour-oracle", "--money", "0.2")
    assert "read 0 pages" in again.stderr
    failed = wayhound(
        installed, "extract", "organisation:fax,registration", "-w", str(folder), "--with", "harbour-mute"
    )
    assert "the oracle sleeps" in failed.stderr
    assert "Traceback" not in failed.stderr
