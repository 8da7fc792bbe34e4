"""Random input for every reader of what strangers send: nothing may be raised but the errors that a reader documents.

Inputs are mutations of seeds and of earlier inputs that reached new lines of this package; `--corpus` keeps the latter
from one run to the next. An input that raises something else, or takes longer than `--limit` CPU seconds, is a failure:
it is written to the corpus folder and reported.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from bench.report import Bar, Report, add_output_options, finish
from wayhound.app.site_list import SiteList
from wayhound.app.teach.session import deserialise
from wayhound.archive.reader import parse_http_head
from wayhound.archive.warc import records
from wayhound.documents.document import from_data
from wayhound.documents.plain_text import read_plain
from wayhound.errors import WayhoundError
from wayhound.net.robots import rules_for
from wayhound.pages.reader import read_page
from wayhound.papers.distant import parse_bibtex
from wayhound.paths.trail_file import read_trails
from wayhound.record_kinds import read_kinds
from wayhound.search.query import MAX_QUERY_LENGTH, describe, parse, to_text
from wayhound.store.model_files import load_model
from wayhound.topics.tree import read_tree
from wayhound.url import host_of, normalise, normalise_route

PACKAGE = str(Path(__file__).parents[1] / "src" / "wayhound")
_TOKENS = (
    b"", b"\0", b"\xff\xfe", b"<", b">", b'"', b"'", b"&#x0;", b"\r\n\r\n", b"%00", b"%C0%AE", b"\xed\xa0\x80", b"{",
    b"}", b"@article{", b"WARC/1.1\r\n", b"Content-Length: -1", b"999999999999999999999", b"-1", b"1e309", b"null",
    b"[]", b"..", b"//", b"[::1", b"xn--", "İ".encode(), "ａ".encode(), b"\x1f\x8b", b"a" * 5_000, b"(" * 500,
)  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """A reader, seeds that it accepts, and what it may raise besides our own errors."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    allowed: tuple[type[Exception], ...] = ()


def _text(body: bytes) -> str:
    return body.decode("utf-8", "surrogateescape")


def _of_file(read: Callable[[Path], object], name: str = "file") -> Callable[[bytes], object]:
    """Return a reader of bytes from a reader of files."""

    def from_bytes(body: bytes) -> object:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            path = Path(folder) / name
            path.write_bytes(body)
            result = read(path)
            return list(result) if isinstance(result, Iterator) else result

    return from_bytes


def _json(read: Callable[[Any], object]) -> Callable[[bytes], object]:
    """Return a reader of JSON objects; what is no JSON object is not passed on, since the caller checks that."""

    def from_bytes(body: bytes) -> object:
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            return None
        return read(data) if isinstance(data, dict) else None

    return from_bytes


def _query(body: bytes) -> object:
    query = parse(_text(body))
    written = to_text(query)  # with quotes, it may be longer than what is read of a query
    if len(written) <= MAX_QUERY_LENGTH and parse(written) != query:
        raise AssertionError("A query that is written out is read in another way.")
    return describe(query)


def _url(body: bytes) -> object:
    url = normalise(_text(body), "http://a.example/b/")
    if url and normalise(url) != url:
        raise AssertionError("A URL in normal form has another normal form.")
    return host_of(url), normalise_route(_text(body), url)


def _sites(body: bytes) -> object:
    sites = SiteList()
    sites.add_text(_text(body), "sites", is_table=b"," in body)
    return sites.sites


READERS = {
    "page": Reader(
        lambda body: read_page("http://a.example/", body, "text/html"),
        (b"<title>A</title><base href='/b'><a href=c rel=nofollow>C</a><p>caf\xc3\xa9", b"<svg><a xlink:href='x'>"),
    ),
    "URL": Reader(_url, (b"http://user@host.example:80/a/../b?c=%7e#d", "//bücher.example/ä".encode(), b"?x")),
    "robots.txt": Reader(
        lambda body: list(rules_for("Wayhound", _text(body))),
        (b"User-agent: *\nDisallow: /a*$\nCrawl-delay: 1\nSitemap: http://a.example/s.xml\n",),
    ),
    "HTTP head": Reader(parse_http_head, (b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\nA: b\r\n\r\n",)),
    "WARC": Reader(
        _of_file(records, "a.warc"),
        (
            b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"
            b"Content-Length: 3\r\n\r\nabc\r\n\r\n",
        ),
    ),
    "trail file": Reader(
        _of_file(read_trails),
        (b'{"format": 1}\n{"page": {"url": "http://a.example/", "links": []}}\n{"trail": [0]}\n',),
    ),
    "teaching event": Reader(
        _json(lambda data: deserialise(str(data.get("kind")), {k: v for k, v in data.items() if k != "kind"})),
        (
            b'{"kind": "marked", "label": "Goal"}',
            b'{"kind": "clicked", "link": {"url": "x", "before": [], "after": []}}',
        ),
    ),
    "query": Reader(_query, (b'author:"Ada L" -x year:1990..1999 +(a OR b*) "near w"~5 NOT c',)),
    "BibTeX": Reader(
        lambda body: list(parse_bibtex(_text(body))),
        (b'@article{key, title = {A {B} c}, author = "Ada and Bob" # x, year = 1999}\n@string{x = "y"}',),
    ),
    "topics": Reader(_of_file(read_tree), (b"Science\n  Physics: quantum, laser\n  Biology\n",)),
    "sites": Reader(_sites, (b"http://a.example/ b.example # c\n", b"name,website\nA,http://a.example\n")),
    "record kinds": Reader(
        _of_file(read_kinds), (b'[contact]\nlabel = "Contact"\n[contact.fields.name]\nrole = "title"\n',)
    ),
    "model file": Reader(
        _of_file(lambda path: load_model(path.parent, "forage", 1), "model.json"), (b'{"kind": "forage"}',)
    ),
    "plain text": Reader(read_plain, (b"A Title\n\nAbstract\n\nText \xe9 [1].\n\nReferences\n[1] A. B. 1999.\n",)),
    "PDF worker's answer": Reader(
        _json(from_data),
        (b'{"format": 1, "kind": "pdf", "pages": [[1, 612, 792, [], null]], "notes": []}',),
        (KeyError, TypeError, ValueError, IndexError),  # the caller takes them for a broken process
    ),
}  # fmt: skip


@dataclass
class Campaign:
    """The search for failures of one reader."""

    name: str
    chance: Random
    corpus: list[bytes]
    folder: Path | None
    limit: float
    seen: set[tuple[str, int]] = field(default_factory=set)
    n_inputs: int = 0
    failures: list[str] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for body in list(self.corpus):
            self.try_one(body, keep=False)
        while time.monotonic() < end:
            self.try_one(self.mutated(), keep=True)

    def mutated(self) -> bytes:
        body = bytearray(self.chance.choice(self.corpus))
        for _ in range(self.chance.choice((1, 1, 2, 4, 8))):
            at = self.chance.randrange(len(body) + 1)
            match self.chance.randrange(5):
                case 0:
                    body[at : at + self.chance.randrange(8)] = self.chance.choice(_TOKENS)
                case 1 if body:
                    body[at % len(body)] = self.chance.randrange(256)
                case 2:
                    del body[at : at + self.chance.randrange(1, 40)]
                case 3:
                    other = self.chance.choice(self.corpus)
                    start = self.chance.randrange(len(other) + 1)
                    body[at:at] = other[start : start + 60]
                case _:
                    part = body[at : at + self.chance.randrange(30)]
                    body[at:at] = part * self.chance.choice((1, 3, 50))
        return bytes(body[:50_000])

    def try_one(self, body: bytes, *, keep: bool) -> None:
        reader, new = READERS[self.name], set[tuple[str, int]]()
        self.n_inputs += 1
        # Lines are counted for one input in four: counting them takes most of the time.
        is_traced = not keep or self.n_inputs % 4 == 0
        started = time.process_time()
        if is_traced:
            sys.settrace(_tracer(self.seen, new))
        try:
            reader.read(body)
        except WayhoundError:
            pass
        except reader.allowed:
            pass
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            sys.settrace(None)
            self.fail(body, f"{type(error).__name__}: {traceback.format_exc(limit=-2)}")
        finally:
            sys.settrace(None)
        if not is_traced and time.process_time() - started > self.limit:
            self.fail(body, f"took {time.process_time() - started:.1f} s")
        if new:
            self.seen |= new
            if keep:
                self.keep(body)

    def keep(self, body: bytes) -> None:
        self.corpus.append(body)
        if self.folder:
            (self.folder / sha256(body).hexdigest()[:16]).write_bytes(body)

    def fail(self, body: bytes, reason: str) -> None:
        if len(self.failures) < 20:
            self.failures.append(f"{self.name}: {reason}: {body[:200]!r}")
            print(self.failures[-1], file=sys.stderr, flush=True)
            if self.folder:
                (self.folder / f"failure-{sha256(body).hexdigest()[:16]}").write_bytes(body)


def _tracer(seen: set[tuple[str, int]], new: set[tuple[str, int]]) -> Callable[[FrameType, str, Any], Any]:
    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and (place := (frame.f_code.co_filename, frame.f_lineno)) not in seen:
            new.add(place)
        return line

    def call(frame: FrameType, _event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(PACKAGE) else None

    return call


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    parser.add_argument("--seconds", type=float, default=300.0, help="for all readers together")
    parser.add_argument(
        "--reader", action="append", choices=sorted(READERS), help="only this one; may be repeated"
    )
    parser.add_argument("--corpus", type=Path, help="a folder that keeps inputs from one run to the next")
    parser.add_argument("--limit", type=float, default=2.0, help="CPU seconds for one input")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="for random choices; default: the time"
    )
    return finish(_measured(parser.parse_args()), parser.parse_args())


def _measured(arguments: argparse.Namespace) -> Report:
    rows, n_failures = [], 0
    names = arguments.reader or list(READERS)
    for number, name in enumerate(names):
        folder = arguments.corpus / name.replace(" ", "-") if arguments.corpus else None
        if folder:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        kept = [path.read_bytes() for path in sorted(folder.iterdir())] if folder else []
        chance = Random(f"{arguments.seed} {number}")
        campaign = Campaign(name, chance, [*READERS[name].seeds, *kept], folder, arguments.limit)
        campaign.run(arguments.seconds / len(names))
        n_failures += len(campaign.failures)
        rows.append(
            (name, campaign.n_inputs, len(campaign.corpus), len(campaign.seen), len(campaign.failures))
        )
    return Report(
        "Random input for the readers",
        ("reader", "inputs", "corpus", "lines reached", "failures"),
        rows,
        [Bar("failures", n_failures, most=0), Bar("inputs", sum(row[1] for row in rows), least=1)],
        {"seed": arguments.seed},
    )


if __name__ == "__main__":
    raise SystemExit(main())
