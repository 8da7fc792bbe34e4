"""The commands of `wayhound chains`, run as typed on a recorded film catalogue."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner, Result

from wayhound.app.index import catch_up
from wayhound.archive.site_folder import write_site_folder
from wayhound.cli import run
from wayhound.cli.chains import chains
from wayhound.errors import NotInWorkspace, TeachingError, UsageError
from wayhound.fetched import Fetched
from wayhound.samples import sample_web, serve_samples
from wayhound.samples.films import FilmSite, person_path
from wayhound.search.results import SearchRequest
from wayhound.workspace import Workspace

BASE = "http://films.localhost"
SITE = FilmSite(seed=7)
ONTOLOGY = """
[relationships.ActorOf]
source = "film"
target = "actor"
inverse = "acted in"
[relationships.DirectedBy]
source = "film"
target = "director"
"""


def chain(role: str) -> list[str]:
    return [BASE + path for path in min(SITE.chains(role))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Workspace.create(tmp_path / "w").close()
    responses = (
        (Fetched(BASE + path, 200, (("Content-Type", "text/html"),), page.body, "text/html", "utf-8"), 1.0)
        for path, page in SITE.pages.items()
    )
    write_site_folder(
        tmp_path / "films", f"{BASE}/", responses, {}, {"source": "samples", "labels_by": "nobody"}
    )
    (tmp_path / "ontology.toml").write_text(ONTOLOGY, "utf-8")
    lines = [f"ActorOf {' '.join(chain('Starring'))}", f"DirectedBy {' '.join(chain('Director'))}"]
    (tmp_path / "examples.txt").write_text("\n".join(lines), "utf-8")
    return tmp_path


def call(folder: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(chains, [*arguments, "-w", str(folder / "w")], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def learned(folder: Path, site: str = "films") -> Result:
    files = (str(folder / "ontology.toml"), str(folder / "examples.txt"))
    return call(folder, "learn", *files, "--recorded", str(folder / site))


def test_rules_are_shown_in_words_and_as_the_paper_writes_them(folder: Path) -> None:
    learned(folder)
    shown = call(folder, "show", "ActorOf").output
    assert "ActorOf(film, actor): 1 example, 0 instances" in shown
    assert "The link “Cast and Credits”" in shown
    assert "After “Starring:”, up to the last </table> before the last “Director”, every link" in shown
    assert "list.er = SkipTo(Director) SkipTo(</table>)   from the end" in shown
    assert "looks like a person's name" in shown
    assert "leaf.tr = HasAnchorTextPattern(person name)" in shown


def test_an_ontology_that_is_no_text_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "ontology.toml").write_bytes(b"\xcb\x00")
    files = [str(tmp_path / "ontology.toml"), str(folder / "examples.txt")]
    with pytest.raises(UsageError, match=r"ontology\.toml cannot be read: it is not text in UTF-8\.$"):
        call(folder, "learn", *files)


def test_instances_are_extracted_and_exported(folder: Path) -> None:
    learned(folder)
    outcome = json.loads(
        call(folder, "extract", "ActorOf", "--recorded", str(folder / "films"), "--json").stdout
    )
    truth = {(BASE + film, BASE + person) for film, _, person in SITE.chains("Starring")}
    assert outcome["instances"] == len(truth)
    assert outcome["uncovered"] == []
    out = folder / "out"
    out.mkdir()
    for name in ("a.jsonl", "a.csv", "a.ttl"):
        call(folder, "export", "ActorOf", "--out", str(out / name))
    rows = [json.loads(line) for line in (out / "a.jsonl").read_text("utf-8").splitlines()]
    assert {(row["source"], row["target"]) for row in rows} == truth
    assert all(len(row["chain"]) == 2 and row["chain"][0]["text"] == "Cast and Credits" for row in rows)
    with (out / "a.csv").open(encoding="utf-8", newline="") as file:
        assert {(row["source"], row["target"]) for row in csv.DictReader(file)} == truth
    turtle = (out / "a.ttl").read_text("utf-8")
    source, target = min(truth)
    assert f"<{source}> o:ActorOf <{target}> ." in turtle
    assert "o:ActorOf a rdf:Property ; rdfs:domain o:film ; rdfs:range o:actor" in turtle


def test_pages_become_instances_of_concepts_that_search_finds(folder: Path) -> None:
    learned(folder)
    for name in ("ActorOf", "DirectedBy"):
        call(folder, "extract", name, "--recorded", str(folder / "films"))
    with Workspace.open(folder / "w") as workspace:
        catch_up(workspace)
        actors = {person for _, _, person in SITE.chains("Starring")}
        assert workspace.search_index.search(SearchRequest("concept:actor")).total == len(actors)
        both = {person for _, _, person in SITE.chains("Director")} & actors
        found = workspace.search_index.search(SearchRequest("+concept:actor +concept:director"))
        assert found.total == len(both)


def test_an_extraction_is_resumed_and_repeated(folder: Path) -> None:
    learned(folder)
    first = f"{BASE}{SITE.films[0].path}"
    arguments = ("--recorded", str(folder / "films"), "--json")
    assert json.loads(call(folder, "extract", "ActorOf", first, *arguments).stdout)["pages"] >= 1
    everything = json.loads(call(folder, "extract", "ActorOf", *arguments).stdout)
    again = json.loads(call(folder, "extract", "ActorOf", "--again", *arguments).stdout)
    assert everything == again
    assert again["pages"] == len(SITE.films)


def test_a_page_that_no_rule_covers_is_reported_with_a_question(folder: Path) -> None:
    learned(folder)
    result = call(folder, "extract", "ActorOf", f"{BASE}/", "--recorded", str(folder / "films"))
    assert "No rule covers 1 page" in result.stderr
    assert f"If pages such as {BASE}/ have such links" in result.stderr


def test_one_more_example_is_asked_for_where_it_covers_most(folder: Path) -> None:
    """A third of the films has another template, and two pages have none: the example is wanted on the third."""
    other = {film.path for number, film in enumerate(SITE.films) if number % 3 == 2}
    odd = sorted({film.path for film in SITE.films} - other)[-2:]
    responses = []
    for path, page in SITE.pages.items():
        body = page.body
        if path in other:
            people = next(film for film in SITE.films if film.path == path).people["Starring"]
            links = "".join(
                f"<span class=who><a href='{person_path(name)}'>{name}</a></span>" for name in people
            )
            body = f"<h1>Film</h1><div class=plays>With {links}</div><a href=/>Home</a>".encode()
        if path in odd:
            body = f"<h1>{path}</h1><p class=gone>Withdrawn.</p><a href=/>Home</a>".encode()
        responses.append((Fetched(BASE + path, 200, (), body, "text/html", "utf-8"), 1.0))
    provenance = {"source": "samples", "labels_by": "nobody"}
    write_site_folder(folder / "mixed", f"{BASE}/", iter(responses), {}, provenance)
    (folder / "ontology.toml").write_text(ONTOLOGY, "utf-8")
    chains_of = [found for found in sorted(SITE.chains("Starring")) if found[0] not in {*other, *odd}]
    (folder / "examples.txt").write_text(f"ActorOf {' '.join(BASE + path for path in chains_of[0])}", "utf-8")
    learned(folder, "mixed")
    recorded = ("--recorded", str(folder / "mixed"))
    outcome = json.loads(call(folder, "extract", "ActorOf", *recorded, "--json").stdout)
    assert {url.removeprefix(BASE) for url in outcome["uncovered"]} == {*other, *odd}
    assert outcome["ask_about"].removeprefix(BASE) in other
    words = " ".join(call(folder, "extract", "ActorOf", *recorded, "--again").stderr.split())
    share = len({*other, *odd}) / len(SITE.films)
    assert f"No rule covers {len({*other, *odd})} pages ({share:.0%})." in words
    assert f"one more example there would cover up to {len(other)} pages" in words
    # that example is a chain of another length: a pattern of its own, chosen on each page
    source = outcome["ask_about"].removeprefix(BASE)
    target = min(found[2] for found in SITE.chains("Starring") if found[0] == source)
    with (folder / "examples.txt").open("a", encoding="utf-8") as file:
        file.write(f"\nActorOf {BASE}{source} {BASE}{target}\n")
    assert "  Or " in learned(folder, "mixed").stdout
    outcome = json.loads(call(folder, "extract", "ActorOf", *recorded, "--again", "--json").stdout)
    assert {url.removeprefix(BASE) for url in outcome["uncovered"]} == set(odd)
    assert outcome["instances"] == len({found for found in SITE.chains("Starring") if found[0] not in odd})


def test_a_site_that_has_changed_is_noticed(folder: Path) -> None:
    learned(folder)
    responses = []
    for path, page in SITE.pages.items():
        body = page.body.replace(b"Cast and Credits", b"People")
        responses.append((Fetched(BASE + path, 200, (), body, "text/html", "utf-8"), 2.0))
    provenance = {"source": "samples", "labels_by": "nobody"}
    write_site_folder(folder / "changed", f"{BASE}/", iter(responses), {}, provenance)
    result = call(folder, "extract", "ActorOf", "--recorded", str(folder / "changed"))
    assert "The site may have changed: learn ActorOf again from its stored examples." in " ".join(
        result.stderr.split()
    )
    assert "1 example page, the first: " in " ".join(result.stderr.split())
    call(folder, "relearn", "ActorOf", "--recorded", str(folder / "changed"))
    again = call(folder, "extract", "ActorOf", "--again", "--recorded", str(folder / "changed"), "--json")
    assert json.loads(again.stdout)["instances"] == len(SITE.chains("Starring"))


@pytest.mark.parametrize(
    ("examples", "error", "message"),
    [
        ("", UsageError, "has no example"),
        (
            "Nonsense http://a.example/ http://a.example/b",
            UsageError,
            "line 1: begin with the name of a relationship",
        ),
        ("ActorOf http://a.example/", UsageError, "line 1: expected the addresses of at least two pages"),
        ("{", UsageError, "line 1 is not an example"),
        (
            f"ActorOf {BASE}/ {BASE}/nowhere",
            TeachingError,
            "there is no link to http://films.localhost/nowhere",
        ),
    ],
)
def test_mistakes_in_examples_are_explained(
    folder: Path, examples: str, error: type[Exception], message: str
) -> None:
    (folder / "examples.txt").write_text(examples, "utf-8")
    with pytest.raises(error, match=message):
        learned(folder)


def test_an_unknown_relationship_is_refused_with_those_that_there_are(folder: Path) -> None:
    with pytest.raises(
        NotInWorkspace, match=r"no relationship 'Director' in this workspace\. It has none yet\."
    ):
        call(folder, "show", "Director")
    learned(folder)
    with pytest.raises(NotInWorkspace, match=r"It has these: ActorOf, DirectedBy\."):
        call(folder, "show", "Director")


def test_the_film_catalogue_is_listed_among_the_samples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["samples"]) == 0
    assert "films.localhost" in capsys.readouterr().out
    with serve_samples(sample_web()) as server:
        page = urlopen(f"http://127.0.0.1:{server.port}/", timeout=60).read().decode()
    assert f"http://films.localhost:{server.port}/" in page


def test_goals_of_a_forage_can_be_the_source_pages(tmp_path: Path) -> None:
    """The forager finds the films of the catalogue, and chains take their actors from the archive and the web."""
    folder, films = tmp_path / "w", SITE.films
    truth = [found for found in SITE.chains("Starring") if found[0] in {film.path for film in films[:5]}]
    Workspace.create(folder).close()
    with serve_samples(sample_web()) as server:
        base = f"http://films.localhost:{server.port}"
        pattern = "|".join(re.escape(film.path) + "$" for film in films[:5])
        loopback = ["--delay", "0", "--allow-private"]
        command = ["forage", f"{base}/", "-w", str(folder), "--goal-pattern", pattern, *loopback]
        assert run([*command, "--budget", "400"]) == 0
        (tmp_path / "ontology.toml").write_text(ONTOLOGY, "utf-8")
        example = [base + path for path in min(truth)]
        (tmp_path / "examples.txt").write_text(f"ActorOf {' '.join(example)}", "utf-8")
        files = (str(tmp_path / "ontology.toml"), str(tmp_path / "examples.txt"))
        call(tmp_path, "learn", *files, "--offline")
        outcome = json.loads(
            call(tmp_path, "extract", "ActorOf", "--from-forage", "--offline", "--json").stdout
        )
    assert outcome["pages"] == 5
    assert outcome["instances"] == len(truth)
