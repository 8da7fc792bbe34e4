"""`wayhound explain`: a page's links are rated before anything is fetched by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.taught import LOOPBACK, start_of
from tests.servers import Answer, serve
from wayhound.cli import run
from wayhound.samples import SampleServer, sample_web, serve_samples


def explained(capsys: pytest.CaptureFixture[str], workspace: Path, *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["explain", *arguments, "-w", str(workspace), "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_a_page_is_fetched_once_and_nothing_behind_its_links(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_samples(sample_web()) as server:
        start = start_of(server, "biology")
        told = explained(capsys, trained, start, "--allow-private")
        asked = sorted(path for _, path in server.counts)
    assert asked == ["/", "/robots.txt"]
    assert told["url"] == start
    assert "start page" in told["source"]
    scores = [link["score"] for link in told["links"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) > 5
    assert all(link["label"] and link["why"] for link in told["links"])
    assert len({link["url"] for link in told["links"]}) == len(told["links"])


def test_the_table_shows_scores_labels_and_reasons(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [start_of(samples, "biology"), "--allow-private", "--limit", "3"]
    assert run(["explain", *arguments, "-w", str(trained)]) == 0
    printed = capsys.readouterr()
    assert "leads to" in printed.out
    assert "probability of a goal:" in printed.out
    assert "more" in printed.err


def test_a_page_of_a_run_is_explained_with_its_way_and_without_a_fetch(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    assert run(["forage", start, "-w", str(trained), *LOOPBACK, "--model", "paths", "--budget", "20"]) == 0
    capsys.readouterr()
    assert run(["export", "goals", "-w", str(trained)]) == 0
    goal = json.loads(capsys.readouterr().out.splitlines()[0])
    before = sum(samples.counts.values())
    told = explained(capsys, trained, goal["url"])
    assert sum(samples.counts.values()) == before
    assert "as run 1 reached it" in told["source"]
    assert told["label"] == "Goal"
    assert told["probability"] == pytest.approx(goal["probability"])
    assert [each["feature"] for each in told["why"]] == [each["feature"] for each in goal["why"]]


def test_a_page_of_a_trail_is_explained_without_a_fetch(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trails", "show", "1", "--json", "-w", str(trained)]) == 0
    end = json.loads(capsys.readouterr().out.splitlines()[-1])["steps"][-1]["url"]
    told = explained(capsys, trained, end)
    assert "as trail" in told["source"]
    assert told["label"] == "Goal"


def test_a_way_of_several_pages_changes_what_the_last_one_is_taken_for(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "biology")
    first = explained(capsys, trained, start, "--allow-private")["links"][0]["url"]
    alone = explained(capsys, trained, first, "--allow-private")
    behind = explained(capsys, trained, start, first, "--allow-private")
    assert alone["url"] == behind["url"]
    assert alone["probability"] != behind["probability"]
    assert "the way here" in [each["feature"] for each in behind["why"]]


def test_links_that_would_not_be_followed_are_told_with_the_reason(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (
        "<a href='/in'>in</a> <a href='https://elsewhere.example/'>out</a> "
        "<a href='/no' rel='nofollow'>no</a> <a href='/a/a/a/a/'>round</a>"
    )
    with serve({"/": page}) as server:
        told = explained(capsys, trained, f"{server}/", "--allow-private")
    assert [link["url"] for link in told["links"]] == [f"{server}/in"]
    reasons = {each["text"]: each["reason"] for each in told["left_alone"]}
    assert reasons == {"out": "out_of_scope", "no": "nofollow", "round": "looping_path"}


def test_a_redirect_is_followed_but_not_for_ever(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moved = Answer(status=302, headers=(("Location", "/here"),))
    with serve({"/": moved, "/here": "<title>Here</title><a href='/on'>on</a>"}) as server:
        told = explained(capsys, trained, f"{server}/", "--allow-private", "--fetch")
    assert (told["title"], told["url"]) == ("Here", f"{server}/here")
    with serve({"/": Answer(status=302, headers=(("Location", "/"),))}) as server:
        assert run(["explain", f"{server}/", "--allow-private", "-w", str(trained)]) == 2
    assert "redirect" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("/gone", ["--allow-private"], "could not be read: no such page"),
        ("/", [], "a private address; --allow-private permits it"),
        ("/file", ["--allow-private"], "could not be read"),
    ],
)
def test_a_page_that_cannot_be_had_is_told_in_a_sentence(
    path: str, options: list[str], words: str, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve({"/": "<title>Here</title>", "/file": ""}) as server:
        assert run(["explain", f"{server}{path}", *options, "-w", str(trained)]) == 2
    assert words in capsys.readouterr().err.strip().splitlines()[-1]
