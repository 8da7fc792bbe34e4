from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.archive.archives import NOON, html, redirect, seen_by_fastwarc, seen_by_warcio
from wayhound.archive.replay import ReplayFetcher
from wayhound.archive.site_folder import SiteFolder, find_site_folders, summarise, write_site_folder
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched

START = "http://www.uni.example/"
RESPONSES = [
    html(START, "<a href='/~ann'>Ann</a>"),
    html("http://www.uni.example/~ann", "<p>Ann</p>"),
    html("http://lab.other.example:8080/", "<p>Lab</p>"),
    html("http://www.uni.example/paper.pdf", b"%PDF-1.4", headers=(("Content-Type", "application/pdf"),)),
    redirect("http://www.uni.example/ann", "http://www.uni.example/~ann"),
    html("http://www.uni.example/gone", b"gone", status=404),
]
LABELS = {"http://www.uni.example/~ann": "person", "http://lab.other.example:8080/": "group"}
PROVENANCE = {"source": "made up for a test", "labels_by": "hand", "era": 2026}


def written(out: Path, **more: object) -> SiteFolder:
    times = [(response, NOON + number) for number, response in enumerate(RESPONSES)]
    return write_site_folder(out, START, times, LABELS, {**PROVENANCE, **more})


def test_a_written_folder_is_read_back(tmp_path: Path) -> None:
    written(tmp_path / "uni")
    folder = SiteFolder.open(tmp_path / "uni")
    assert folder.site.start == START
    assert folder.labels == LABELS
    assert folder.name == "uni"
    assert folder.meta["source"] == "made up for a test"
    assert (folder.meta["pages"], folder.meta["redirects"]) == (4, 1)
    assert folder.meta["labels"] == {"group": {"pages": 1}, "person": {"pages": 1}}
    replay = ReplayFetcher(folder.responses)
    assert [replay.get(response.url).outcome for response in RESPONSES] == [
        response.outcome for response in RESPONSES
    ]
    assert [replay.get(url) for url in folder.pages][:3] == RESPONSES[:3]


def test_every_host_of_the_archive_is_inside(tmp_path: Path) -> None:
    site = written(tmp_path / "uni").site
    assert all(site.covers(response.url) for response in RESPONSES)
    assert not site.covers("http://lab.other.example/")


def test_other_readers_read_the_archive_of_a_folder(tmp_path: Path) -> None:
    path = written(tmp_path / "uni").path / "site.warc.gz"
    for seen in (seen_by_warcio(path), seen_by_fastwarc(path)):
        assert [record.kind for record in seen] == ["warcinfo", *["response"] * len(RESPONSES)]
        assert [record.body for record in seen[1:]] == [response.body for response in RESPONSES]


def test_labels_are_found_whatever_the_spelling_of_the_url(tmp_path: Path) -> None:
    path = written(tmp_path / "uni").path
    (path / "labels.tsv").write_text("url\tlabel\r\nHTTP://www.uni.example:80/%7eann\tperson\r\n\r\n")
    assert SiteFolder.open(path).labels == {"http://www.uni.example/~ann": "person"}


def test_a_folder_is_described(tmp_path: Path) -> None:
    path = written(tmp_path / "uni").path
    with (path / "labels.tsv").open("a") as labels:
        labels.write("http://www.uni.example/never\tperson\n")
    summary = summarise(path)
    assert (summary.start, summary.urls, summary.pages, summary.redirects) == (START, 6, 4, 1)
    assert summary.content_types == {"text/html": 3, "application/pdf": 1}
    assert summary.labels == {"person": 1, "group": 1}
    assert summary.unlabelled == 2
    assert summary.hosts == ("lab.other.example:8080", "www.uni.example")
    assert summary.packed_bytes == (path / "site.warc.gz").stat().st_size


def test_a_plain_warc_is_described_too(tmp_path: Path) -> None:
    summary = summarise(written(tmp_path / "uni").path / "site.warc.gz")
    assert (summary.start, summary.pages, summary.labels) == ("", 4, {})


def test_site_folders_are_found_at_any_depth_by_name(tmp_path: Path) -> None:
    for name in ("b", "a/deep/one", "a/two"):
        written(tmp_path / name)
    (tmp_path / "no" / "site").mkdir(parents=True)
    assert find_site_folders(tmp_path) == [tmp_path / "a/deep/one", tmp_path / "a/two", tmp_path / "b"]
    assert find_site_folders(tmp_path / "b") == [tmp_path / "b"]
    assert find_site_folders(tmp_path / "no") == []
    with pytest.raises(ArchiveError, match="There is no folder"):
        find_site_folders(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("site.json", None, "has no site.json"),
        ("labels.tsv", None, "has no labels.tsv"),
        ("site.warc.gz", None, "has no site.warc.gz"),
        ("site.json", b"{", "site.json is not JSON"),
        ("site.json", b"[" * 100_000, "site.json is not JSON"),
        ("site.json", b"[]", "does not name the start page"),
        ("site.json", b'{"start": 7}', "does not name the start page"),
        ("site.json", b'{"start": "http://elsewhere.example/"}', "does not hold the start page"),
        ("site.json", b"\xff\xfe", "is not UTF-8 text"),
        ("labels.tsv", b"", "does not begin with the line"),
        ("labels.tsv", b"url\tlabel\nhttp://www.uni.example/~ann\n", "labels.tsv, line 2: expected a URL"),
        ("labels.tsv", b"url\tlabel\nhttp://a.example/\tx\ty\n", "labels.tsv, line 2: expected a URL"),
        (
            "labels.tsv",
            b"url\tlabel\nhttp://a.example/\tx\nhttp://A.example\ty\n",
            "line 3: .* has the label x",
        ),
        ("site.warc.gz", b"", "does not hold the start page"),
        ("site.warc.gz", b"\x1f\x8b\x08\x00", "the last record is cut off"),
        ("site.warc.gz", b"<html>", "no WARC record starts there"),
    ],
)
def test_missing_and_damaged_parts_are_told(
    tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    path = written(tmp_path / "uni").path
    (path / name).unlink()
    if content is not None:
        (path / name).write_bytes(content)
    with pytest.raises(ArchiveError, match=why):
        SiteFolder.open(path)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="There is no folder"):
        SiteFolder.open(tmp_path / "none")


def test_an_existing_folder_is_never_written_over(tmp_path: Path) -> None:
    written(tmp_path / "uni")
    with pytest.raises(ArchiveError, match="exists already"):
        written(tmp_path / "uni")


def test_a_recording_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken() -> Iterator[tuple[Fetched, float]]:
        yield RESPONSES[1], NOON
        raise ArchiveError("the source broke off.")

    with pytest.raises(ArchiveError, match="broke off"):
        write_site_folder(tmp_path / "uni", START, broken(), {}, {})
    with pytest.raises(ArchiveError, match=r"start page .* is not among"):
        write_site_folder(tmp_path / "uni", START, [(RESPONSES[1], NOON)], {}, {})
    assert list(tmp_path.iterdir()) == []


def test_a_label_cannot_break_the_table(tmp_path: Path) -> None:
    for label in ("two\twords", "two\nlines", ""):
        with pytest.raises(ArchiveError, match="cannot be written as the label"):
            write_site_folder(tmp_path / "uni", START, [(RESPONSES[0], NOON)], {START: label}, {})


def test_site_json_can_be_read_by_anyone(tmp_path: Path) -> None:
    meta = json.loads((written(tmp_path / "uni", note="Grüße").path / "site.json").read_text("utf-8"))
    assert meta["note"] == "Grüße"
    assert meta["start"] == START


def test_redirects_of_a_folder_lead_to_what_it_holds(tmp_path: Path) -> None:
    replay = ReplayFetcher(written(tmp_path / "uni").responses)
    moved = replay.get("http://www.uni.example/ann")
    assert isinstance(moved, Fetched)
    assert moved.location in replay
