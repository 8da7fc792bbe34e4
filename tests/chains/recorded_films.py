"""The sample film catalogue as a recorded site, and a workspace that has learned from it."""

from __future__ import annotations

from pathlib import Path

from wayhound.app.chains.relationships import LinkChains
from wayhound.archive.site_folder import write_site_folder
from wayhound.chains.construction import ExampleChain, ExampleLink
from wayhound.chains.ontology import read_ontology
from wayhound.fetched import Fetched
from wayhound.samples.films import FilmSite
from wayhound.workspace import Workspace

BASE = "http://films.localhost"
SITE = FilmSite(seed=7)
ONTOLOGY = """
[relationships.ActorOf]
source = "film"
target = "actor"
label = "Starring"
inverse = "acted in"
"""


def record_films(folder: Path) -> Path:
    responses = (
        (Fetched(BASE + path, 200, (("Content-Type", "text/html"),), page.body, "text/html", "utf-8"), 1.0)
        for path, page in SITE.pages.items()
    )
    provenance = {"source": "samples", "labels_by": "nobody"}
    return write_site_folder(folder, f"{BASE}/", responses, {}, provenance).path


def extracted_workspace(folder: Path) -> Path:
    """Make a workspace in which ActorOf was learned from one example and extracted."""
    site = record_films(folder / "films")
    with (
        Workspace.create(folder / "w") as workspace,
        LinkChains.opened(workspace, [site]) as chains,
    ):
        chains.store.save_ontology(read_ontology(ONTOLOGY))
        film, cast, person = (BASE + path for path in min(SITE.chains("Starring")))
        example = ExampleChain((ExampleLink(film, cast), ExampleLink(cast, person)))
        chains.store.add_examples("ActorOf", [example])
        chains.learn("ActorOf")
        chains.extract("ActorOf")
    return folder / "w"
