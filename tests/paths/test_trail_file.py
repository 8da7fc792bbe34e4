"""Trail files: round trips, pages written once, and errors with line numbers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.paths.trails import HOME, LISE, SITE, START, TO_GOAL, TO_NOWHERE
from wayhound.errors import UsageError
from wayhound.page import Link, Page
from wayhound.paths.trail_file import MAX_LABEL_CHARS, read_trails, write_trails
from wayhound.trail import GOAL, Step, Trail

HEAD = {"wayhound": "trails", "version": 1}


def written(*trails: Trail) -> list[dict[str, Any]]:
    stream = io.BytesIO()
    assert write_trails(trails, stream) == len(trails)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def file_of(path: Path, *lines: Any) -> Path:
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(texts) + b"\n")
    return path


def test_trails_come_back_as_they_were_written(tmp_path: Path) -> None:
    with (tmp_path / "trails.jsonl").open("wb") as stream:
        write_trails([TO_GOAL, TO_NOWHERE], stream)
    read = list(read_trails(tmp_path / "trails.jsonl"))
    assert read == [TO_GOAL, TO_NOWHERE]
    assert [trail.taught_by for trail in read] == ["Ada", ""]


def test_a_document_at_the_end_of_a_trail_comes_back(tmp_path: Path) -> None:
    report = Page(f"{SITE}report.pdf", content_type="application/pdf", digest="12ab")
    trail = Trail(SITE, (Step(START), Step(report, Link(report.url, "Report", ("our",)), GOAL)))
    assert written(trail)[2] == {
        "page": written(trail)[3]["steps"][1]["page"],
        "url": report.url,
        "content_type": "application/pdf",
        "digest": "12ab",
    }
    with (tmp_path / "trails.jsonl").open("wb") as stream:
        write_trails([trail], stream)
    [read] = read_trails(tmp_path / "trails.jsonl")
    assert read == trail
    assert read.steps[-1].page.is_document


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
links = st.builds(Link, url=texts.filter(bool), text=texts, before=st.tuples(texts), nofollow=st.booleans())
pages = st.builds(
    Page, url=texts.filter(bool), title=texts, tokens=st.tuples(texts, texts), links=st.tuples(links, links)
)


@given(first=pages, second=pages, link=links)
def test_any_text_of_the_web_survives(first: Page, second: Page, link: Link, tmp_path_factory: Any) -> None:
    trail = Trail(SITE, (Step(first), Step(second, link, "a label"), Step(first, second.links[1], GOAL)))
    path = tmp_path_factory.mktemp("trails") / "trails.jsonl"
    with path.open("wb") as stream:
        write_trails([trail], stream)
    assert list(read_trails(path)) == [trail]


def test_a_page_of_several_trails_is_written_once() -> None:
    lines = written(TO_GOAL, TO_NOWHERE, TO_GOAL)
    urls = [line["url"] for line in lines if "page" in line]
    assert len(urls) == len(set(urls)) == 4


def test_a_link_of_the_page_before_is_written_as_its_index() -> None:
    steps = written(TO_GOAL)[-1]["steps"]
    assert [step.get("link") for step in steps] == [None, 0, 0]


def test_a_link_that_the_page_before_does_not_hold_is_written_whole(tmp_path: Path) -> None:
    trail = Trail(SITE, (Step(START), Step(HOME, LISE, GOAL)))
    lines = written(trail)
    assert lines[-1]["steps"][1]["link"]["url"] == LISE.url
    assert list(read_trails(file_of(tmp_path / "t", *lines))) == [trail]


def test_a_trail_may_hold_its_pages_inline_and_unknown_keys(tmp_path: Path) -> None:
    start = {"url": SITE, "links": [{"url": f"{SITE}a", "mood": "good"}], "mood": "bad"}
    steps = [{"page": start}, {"page": {"url": f"{SITE}a"}, "link": 0, "label": GOAL}]
    [trail] = read_trails(file_of(tmp_path / "t", HEAD, {"trail": SITE, "steps": steps}))
    assert trail.reached_goal
    assert trail.steps[1].link == Link(f"{SITE}a")


PAGE = {"page": "p", "url": SITE, "links": [{"url": f"{SITE}a"}]}


def to(step: Any, first: Any = None) -> dict[str, Any]:
    return {"trail": SITE, "steps": [first or {"page": "p"}, step]}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not text in UTF-8"),
        ([1], "must be a JSON object"),
        ({"story": 1}, "neither a page nor a trail"),
        ({"page": 3, "url": SITE}, "id of the page"),
        ({"page": "q"}, "object with a url"),
        ({"page": "q", "url": SITE, "tokens": "a b"}, "tokens must be a list of texts"),
        ({"page": "q", "url": SITE, "title": 3}, "title must be a text"),
        ({"page": "q", "url": SITE, "nofollow": "no"}, "nofollow must be true or false"),
        ({"page": "q", "url": SITE, "links": {}}, "list of links"),
        ({"page": "q", "url": SITE, "links": [{"url": SITE, "kind": "z"}]}, "no kind of link"),
        ({"trail": "", "steps": [{"page": "p"}]}, "start page of its site"),
        ({"trail": SITE, "steps": []}, "list of steps"),
        ({"trail": SITE, "steps": [{"page": "p"}], "taught_by": 1}, "taught_by must be a text"),
        (to({"page": "q", "link": 0}), "step 2: no line before this one holds the page 'q'"),
        (to({"page": "p", "link": 7}), "step 2: the page before has no link number 7"),
        (to({"page": "p", "link": True}), "step 2: a link must be an object"),
        (to({"page": "p"}), "step 2: there is no link"),
        (to("p"), "step 2: a step must be an object"),
        (to({"page": "p", "link": 0}, {"page": "p", "link": 0}), "step 1: the first step"),
        (to({"page": "p", "link": 0, "label": 5}), "step 2: a label must be a text"),
        (to({"page": "p", "link": 0, "label": "<Goal"}), "may not begin with"),
        (to({"page": "p", "link": 0, "label": "x" * (MAX_LABEL_CHARS + 1)}), "a word or a few"),
    ],
)
def test_a_bad_line_is_reported_with_its_number_and_the_reason(line: Any, words: str, tmp_path: Path) -> None:
    path = file_of(tmp_path / "trails.jsonl", HEAD, PAGE, line)
    with pytest.raises(UsageError, match=r"line 3: .*Nothing was imported\.$") as raised:
        list(read_trails(path))
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ({"url": "http://a.example/"}, "not a trail file"),
        ({"wayhound": "trails", "version": 99}, "newer Wayhound"),
        ({"wayhound": "trails", "version": "one"}, "not a trail file"),
    ],
)
def test_a_foreign_or_newer_file_is_refused(head: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        list(read_trails(file_of(tmp_path / "trails.jsonl", head)))


def test_a_file_from_before_the_product_was_renamed_is_read(tmp_path: Path) -> None:
    head, *lines = written(TO_GOAL)
    old = {"trailmark": head["wayhound"], "version": head["version"]}
    assert list(read_trails(file_of(tmp_path / "t", old, *lines))) == [TO_GOAL]


def test_an_empty_or_missing_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"\n")
    with pytest.raises(UsageError, match="is empty"):
        list(read_trails(tmp_path / "empty"))
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_trails(tmp_path / "nowhere"))
