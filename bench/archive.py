"""CPU per page of writing and reading the archive, beside warcio and a lower bound.

The lower bound is `zlib.compress` of the same bodies at the same level. warcio writes the same response and request
records with its own defaults. All take turns in one process, and the best of several rounds counts. With
``--data FOLDER``, pages of real sites are written as well, and every site folder and WARC file below the folder is
loaded and compared with its `site.json`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from wayhound.archive.reader import iterate
from wayhound.archive.replay import ReplayFetcher
from wayhound.archive.site_folder import META_NAME, SiteFolder, find_site_folders
from wayhound.archive.warc import LEVEL
from wayhound.archive.writer import ArchiveWriter
from wayhound.fetched import Fetched
from wayhound.page import Page
from wayhound.pages.reader import read_response

PAGES = 300
PAGE_BYTES = 26_000
ROUNDS = 11
MOST_OVER_FLOOR = 1.75
MOST_OF_WARCIO = 0.6
AT = 1_767_268_800.0

REQUEST = (
    ("User-Agent", "Mozilla/5.0 (compatible; wayhound/0.1; +https://example.org/bot)"),
    ("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"),
    ("Accept-Encoding", "gzip, deflate"),
)
RESPONSE = (
    ("Server", "nginx"),
    ("Date", "Thu, 01 Jan 2026 12:00:00 GMT"),
    ("Content-Type", "text/html; charset=utf-8"),
    ("Transfer-Encoding", "chunked"),
    ("Cache-Control", "max-age=600"),
    ("ETag", '"5e1f-60c"'),
    ("Content-Encoding", "gzip"),
)


def generated_pages(count: int = PAGES) -> list[Fetched]:
    """Return pages that compress about as well as real ones: words with a long tail, and repeated navigation."""
    draw = random.Random(7)
    words = ["".join(draw.choices("etaoinshrdlucmfwyp", k=draw.randrange(2, 11))) for _ in range(4_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    return [_page(f"http://site.example/{number}", _html(draw, words, weights)) for number in range(count)]


def real_pages(data: Path, count: int = PAGES) -> list[Fetched]:
    """Return the first pages of the data between 20 and 34 KB."""
    pages: list[Fetched] = []
    for path in warcs_below(data):
        bodies = (fetched.body for _, fetched, _ in iterate(path))
        fitting = (body for body in bodies if 20_000 < len(body) < 34_000)
        pages += [_page(f"http://site.example/{len(pages) + at}", body) for at, body in enumerate(fitting)]
        if len(pages) >= count:
            break
    return pages[:count]


def written_table(pages: list[Fetched], rounds: int = ROUNDS) -> dict[str, dict[str, float]]:
    """Return CPU milliseconds and stored bytes per page, by writer."""
    writers: dict[str, Callable[[list[Fetched]], int]] = {
        "lower bound: zlib": _floor,
        "wayhound": _ours,
        "warcio": _warcio,
    }
    best = dict.fromkeys(writers, float("inf"))
    stored = dict.fromkeys(writers, 0)
    for _ in range(rounds):
        for name, write in writers.items():
            gc.collect()
            start = time.process_time()
            stored[name] = write(pages)
            best[name] = min(best[name], time.process_time() - start)
    return {
        name: {"cpu_ms": 1000 * best[name] / len(pages), "bytes": stored[name] / len(pages)}
        for name in writers
    }


def read_table(pages: list[Fetched], rounds: int = ROUNDS) -> dict[str, float]:
    """Return CPU milliseconds to read a page, by reader."""
    with tempfile.TemporaryDirectory() as folder:
        with ArchiveWriter(Path(folder), "bench", software="bench") as archive:
            for page in pages:
                archive.write(page, at=AT, request_headers=None)
        (path,) = Path(folder).glob("*.warc.gz")
        readers: dict[str, Callable[[Path], int]] = {"wayhound": _read_ours, "warcio": _read_warcio}
        best = dict.fromkeys(readers, float("inf"))
        for _ in range(rounds):
            for name, read in readers.items():
                start = time.process_time()
                assert read(path) == sum(len(page.body) for page in pages)
                best[name] = min(best[name], time.process_time() - start)
    return {name: 1000 * seconds / len(pages) for name, seconds in best.items()}


def loaded_site(path: Path, *, walk: bool) -> dict[str, Any]:
    """Return what a site folder holds, and what its `site.json` says."""
    start = time.process_time()
    folder = SiteFolder.open(path)
    seconds = time.process_time() - start
    replay = ReplayFetcher(folder.responses)
    row = {
        "site": f"{path.parent.name}/{folder.name}",
        "pages": len(folder.pages),
        "redirects": sum(response.is_redirect for response in folder.responses.values()),
        "reachable": len(_reachable(replay, folder.site.start)) if walk else None,
        "labels_not_held": sum(url not in replay for url in folder.labels),
        "load_seconds": seconds,
    }
    expected = {name: folder.meta.get(name) for name in ("pages", "redirects", "reachable")}
    return {**row, "expected": expected}


def warcs_below(data: Path) -> list[Path]:
    return sorted(path for kind in ("*.warc", "*.warc.gz") for path in data.rglob(kind))


def _html(draw: random.Random, words: list[str], weights: list[float]) -> bytes:
    links = "".join(
        f'<li class="item"><a href="/{word}/{word}.html">{word}</a></li>\n' for word in words[:60]
    )
    parts = [f"<html><head><title>{words[7]}</title></head><body><ul class='nav'>\n{links}</ul>\n"]
    while sum(map(len, parts)) < PAGE_BYTES:
        parts.append(f"<p>{' '.join(draw.choices(words, weights, k=60))}.</p>\n")
    return "".join(parts).encode()[:PAGE_BYTES]


def _page(url: str, body: bytes) -> Fetched:
    return Fetched(url, 200, RESPONSE, body, "text/html", "utf-8", reason_phrase="OK", ip="192.0.2.1")


def _floor(pages: list[Fetched]) -> int:
    return sum(len(zlib.compress(page.body, LEVEL, wbits=31)) for page in pages)


def _ours(pages: list[Fetched]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        with ArchiveWriter(Path(folder), "bench", software="bench") as archive:
            for page in pages:
                archive.write(page, at=AT, request_headers=REQUEST)
        return sum(path.stat().st_size for path in Path(folder).iterdir())


def _warcio(pages: list[Fetched]) -> int:
    with tempfile.TemporaryFile() as file:
        writer = WARCWriter(file, warc_version="WARC/1.1")
        for page in pages:
            head = StatusAndHeaders("200 OK", list(page.headers), protocol="HTTP/1.1")
            block = {"payload": BytesIO(page.body), "length": len(page.body), "http_headers": head}
            response = writer.create_warc_record(page.url, "response", **block)
            request_head = StatusAndHeaders("GET / HTTP/1.1", list(REQUEST), is_http_request=True)
            request = writer.create_warc_record(page.url, "request", http_headers=request_head)
            writer.write_request_response_pair(request, response)
        return os.fstat(file.fileno()).st_size


def _read_ours(path: Path) -> int:
    return sum(len(fetched.body) for _, fetched, _ in iterate(path))


def _read_warcio(path: Path) -> int:
    with path.open("rb") as file:
        records = (record for record in ArchiveIterator(file) if record.rec_type == "response")
        return sum(len(record.raw_stream.read()) for record in records)


def _reachable(replay: ReplayFetcher, start: str) -> set[str]:
    """Return the pages that links and redirects lead to from the start page."""
    seen, queue, pages = {start}, [start], set()
    while queue:
        url = queue.pop()
        response = replay.get(url)
        if not isinstance(response, Fetched):
            continue
        if response.ok:
            pages.add(url)
        for target in _targets(response):
            if target not in seen and target in replay:
                seen.add(target)
                queue.append(target)
    return pages


def _targets(response: Fetched) -> list[str]:
    if response.location:
        return [response.location]
    page = read_response(response)
    return [link.url for link in page.links] if isinstance(page, Page) else []


def _print_written(title: str, table: dict[str, dict[str, float]], reading: dict[str, float]) -> None:
    floor, warcio = table["lower bound: zlib"]["cpu_ms"], table["warcio"]["cpu_ms"]
    print(f"\n{title}\n{'writer':20}{'CPU ms a page':>15}{'x floor':>10}{'x warcio':>10}{'bytes a page':>14}")
    for name, row in table.items():
        ratios = f"{row['cpu_ms'] / floor:10.2f}{row['cpu_ms'] / warcio:10.2f}"
        print(f"{name:20}{row['cpu_ms']:15.3f}{ratios}{row['bytes']:14,.0f}")
    print("read back: " + ", ".join(f"{name} {ms:.3f} ms" for name, ms in reading.items()))


def _print_sites(rows: list[dict[str, Any]]) -> None:
    print(f"\n{'site folder':50}{'pages':>14}{'redirects':>14}{'reachable':>14}{'CPU s':>8}")
    for row in rows:
        cells = [f"{row[name]}/{row['expected'][name]}" for name in ("pages", "redirects", "reachable")]
        print(f"{row['site'][:49]:50}{cells[0]:>14}{cells[1]:>14}{cells[2]:>14}{row['load_seconds']:8.2f}")


def _missed_written(table: dict[str, dict[str, float]]) -> list[str]:
    ours = table["wayhound"]["cpu_ms"]
    missed = []
    if ours > MOST_OVER_FLOOR * table["lower bound: zlib"]["cpu_ms"]:
        missed.append(f"a page costs more than {MOST_OVER_FLOOR} times the floor")
    if ours > MOST_OF_WARCIO * table["warcio"]["cpu_ms"]:
        missed.append(f"a page costs more than {MOST_OF_WARCIO} of warcio's CPU")
    return missed


def _missed_loaded(rows: list[dict[str, Any]]) -> list[str]:
    return [
        f"{row['site']} holds {row['pages']} pages, and {row['labels_not_held']} labelled URLs are not there"
        for row in rows
        if row["pages"] != row["expected"]["pages"] or row["labels_not_held"]
    ]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("WAYHOUND_DATA"), help="real sites")
    parser.add_argument("--walk", action="store_true", help="also count the reachable pages")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args(argv)
    result: dict[str, Any] = {"written": {"generated": written_table(pages := generated_pages())}}
    missed = _missed_written(result["written"]["generated"])
    _print_written("generated pages", result["written"]["generated"], read_table(pages))
    if arguments.data:
        data = Path(arguments.data)
        result["written"]["real"] = table = written_table(pages := real_pages(data))
        _print_written("real pages", table, read_table(pages))
        result["sites"] = [loaded_site(path, walk=arguments.walk) for path in find_site_folders(data)]
        _print_sites(result["sites"])
        loose = [path for path in warcs_below(data) if not (path.parent / META_NAME).exists()]
        result["files"] = {path.name: len(ReplayFetcher(path)) for path in loose}
        print("\nother WARC files: " + ", ".join(f"{name} {urls}" for name, urls in result["files"].items()))
        missed += _missed_written(table) + _missed_loaded(result["sites"])
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1))
    print("\n" + ("\n".join(f"MISSED: {bar}" for bar in missed) or "all bars met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
