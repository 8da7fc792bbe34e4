from __future__ import annotations

import asyncio
import os
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.archive.archives import NOON, html, redirect, warc_of, writer
from wayhound.archive.replay import CACHE_BYTES, ReplayFetcher, serve_replay
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched, Fetcher

START = "http://a.example/"


def archive_of(folder: Path, *responses: Fetched, max_bytes: int = 1 << 30) -> Path:
    with writer(folder, max_bytes=max_bytes) as archive:
        for number, response in enumerate(responses):
            archive.write(response, at=NOON + number)
    return folder


def test_replay_answers_as_the_network_did(tmp_path: Path) -> None:
    page, moved = html(START, "<p>Start</p>"), redirect("http://a.example/old", START)
    replay: Fetcher = ReplayFetcher(archive_of(tmp_path, page, moved))
    assert asyncio.run(replay.fetch(START)) == page
    assert asyncio.run(replay.fetch("http://a.example/old")) == moved


def test_what_is_not_archived_does_not_exist(tmp_path: Path) -> None:
    replay = ReplayFetcher(archive_of(tmp_path, html(START)))
    gone = replay.get("http://a.example/gone")
    assert gone == Failed("http://a.example/gone", "not_archived", sent=False)
    assert "http://a.example/gone" not in replay
    assert START in replay
    assert 7 not in replay


def test_urls_are_compared_in_normal_form(tmp_path: Path) -> None:
    replay = ReplayFetcher(archive_of(tmp_path, html("http://a.example/%7Eann/./x")))
    assert list(replay.urls()) == ["http://a.example/~ann/x"]
    found = replay.get("HTTP://A.example:80/~ann/x#top")
    assert isinstance(found, Fetched)
    assert found.url == "http://a.example/~ann/x"


def test_a_url_without_a_normal_form_can_still_be_replayed(tmp_path: Path) -> None:
    odd = f"http://{'a' * 300}.example/"
    replay = ReplayFetcher(archive_of(tmp_path, html(odd)))
    assert isinstance(replay.get(odd), Fetched)


def test_a_page_goes_before_a_redirect_and_that_before_an_error_and_late_before_early(tmp_path: Path) -> None:
    responses = [
        html("http://a.example/1", b"early"),
        html("http://a.example/1", b"late"),
        html("http://a.example/1", b"down", status=503),
        html("http://a.example/2", b"gone", status=404),
        redirect("http://a.example/2", START),
        html("http://a.example/3", b"one error", status=503),
        html("http://a.example/3", b"another", status=404),
    ]
    replay = ReplayFetcher(archive_of(tmp_path, *responses))
    answers = [replay.get(f"http://a.example/{number}") for number in (1, 2, 3)]
    assert [answer.outcome for answer in answers] == ["ok", "redirect", "http_404"]
    assert isinstance(answers[0], Fetched)
    assert answers[0].body == b"late"


def test_a_redirect_between_spellings_of_one_url_does_not_hide_the_page(tmp_path: Path) -> None:
    page, loop = html("http://a.example/~ann"), redirect("http://a.example/%7Eann", "http://a.example/~ann")
    for number, responses in enumerate([(page, loop), (loop, page)]):
        replay = ReplayFetcher(archive_of(tmp_path / str(number), *responses))
        assert replay.get("http://a.example/~ann") == page


def test_revisits_are_replayed_with_their_bodies_over_many_files(tmp_path: Path) -> None:
    body = os.urandom(3_000)
    pages = [html(f"http://a.example/{number}", body) for number in range(4)]
    replay = ReplayFetcher(archive_of(tmp_path, *pages, max_bytes=1_000))
    assert [replay.get(page.url) for page in pages] == pages


def test_one_file_several_files_and_folders_can_be_replayed(tmp_path: Path) -> None:
    one = archive_of(tmp_path / "one", html("http://a.example/1"))
    two = archive_of(tmp_path / "two", html("http://b.example:81/2"))
    replay = ReplayFetcher([warc_of(one), two])
    assert len(replay) == 2
    assert replay.hosts() == ("a.example", "b.example:81")


def test_the_memory_of_bodies_is_bounded_and_answers_stay_the_same(tmp_path: Path) -> None:
    size = CACHE_BYTES // 3
    pages = [html(f"http://a.example/{number}", bytes([number]) * size) for number in range(6)]
    replay = ReplayFetcher(archive_of(tmp_path, *pages))
    for _ in range(2):
        for page in pages:
            assert replay.get(page.url) == page
    assert sum(len(kept.body) for kept in replay._cache.values()) == replay._cached_bytes <= CACHE_BYTES


def test_archives_that_cannot_be_replayed_are_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.warc").write_text("Dear reader,\n\nthis is no archive.\n")
    for path, why in (
        (tmp_path / "none", "There is no archive at"),
        (tmp_path / "empty", "holds no WARC file"),
        (tmp_path / "text.warc", "no WARC record starts there"),
    ):
        with pytest.raises(ArchiveError, match=why):
            ReplayFetcher(path)


def opened(url: str) -> bytes:
    """The body at an address, by its host and port on loopback, whatever this machine resolves."""
    host, _, path = url.removeprefix("http://").partition("/")
    request = urllib.request.Request(
        f"http://127.0.0.1:{host.rpartition(':')[2]}/{path}", headers={"Host": host}
    )
    with urllib.request.urlopen(request) as response:
        return bytes(response.read())


def test_a_browser_sees_recorded_sites_and_its_links_stay_within_them(tmp_path: Path) -> None:
    start = html(
        "https://a.example/",
        "<a href='https://b.example/x?y=1'>B</a><a href='//a.example/z'>Z</a><a href='https://c.example/'>C</a>",
    )
    other = html("https://b.example/x?y=1", "<p>B</p>")
    with serve_replay([archive_of(tmp_path, start, other)]) as server:
        body = opened(server.address("https://a.example/")).decode()
        port = server.server_port
        assert body == (
            f"<a href='http://b.example.localhost:{port}/x?y=1'>B</a><a href='http://a.example.localhost:{port}/z'>Z</a>"
            "<a href='https://c.example/'>C</a>"
        )
        assert opened(f"http://b.example.localhost:{port}/x?y=1") == b"<p>B</p>"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            opened(f"http://a.example.localhost:{port}/z")


def test_one_recorded_site_answers_under_any_name(tmp_path: Path) -> None:
    with serve_replay([archive_of(tmp_path, html(START, "<p>Start</p>"))]) as server:
        assert opened(f"http://localhost:{server.server_port}/") == b"<p>Start</p>"
