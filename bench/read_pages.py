"""Pages read per CPU second: 26 KB each, 60 links, as much text and markup as real ones.

The pages are made here, the same every time. Beside the reader run its floor, the parser alone, and lxml
doing the same reading where it is installed. All take turns, and every figure is the best of its rounds:
other programs on the machine can only slow a round down. With `--data`, recorded pages are read too; those
carry no bar, since their sizes differ from set to set.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser
from warcio.archiveiterator import ArchiveIterator

from bench.report import Bar, Report, add_data_option, add_output_options, finish
from wayhound.page import Page
from wayhound.pages.reader import read_page

URL = "http://www.example.org/people/index.html"
PAGES = 60
ROUNDS = 25
LEAST_PAGES_A_SECOND = 500
REAL_PAGES_A_SITE = 150

SYLLABLES = "ba de fi go ka le mi no pa ra se ti vu ber dan fel gor lin mon per ran sel tor".split()
HREFS = (
    "/{}/{}.html",
    "{}/{}.html",
    "{}.html",
    "/{}/{}/",
    "../{}/{}.html",
    "/{}?id={}",
    "http://{}.example.org/{}/",
)


class Writer:
    """Writes one page; the same seed gives the same page."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def word(self) -> str:
        return "".join(self._random.choices(SYLLABLES, k=self._random.randint(1, 3)))

    def words(self, least: int, most: int) -> str:
        return " ".join(self.word() for _ in range(self._random.randint(least, most)))

    def link(self, classes: str = "") -> str:
        href = self._random.choice(HREFS).format(self.word(), self.word())
        marked = f' class="{classes}"' if classes else ""
        return f'<a{marked} href="{href}">{self.words(1, 3).title()}</a>'

    def lines(self, count: int, line: Callable[[int], str]) -> str:
        return "\n".join(line(number) for number in range(count))

    def paragraph(self, number: int) -> str:
        level = 2 + number % 2
        heading = f'<h{level} id="part-{number}">{self.words(2, 5).title()}</h{level}>'
        linked = f"{self.link()} {self.words(4, 10)}" if number % 2 else self.words(6, 12)
        return f"""      {heading if number % 3 == 0 else ""}
        <div class="row post-row"><div class="col-md-12">
          <p class="body-text lead">{self.words(20, 40).capitalize()}, <strong>{self.words(1, 3)}</strong>
            {linked} &mdash; {self.words(8, 14)}.</p>
        </div></div>"""

    def row(self, number: int) -> str:
        return f"""          <tr class="table-row {"odd" if number % 2 else "even"}">
            <td class="column-name"><span class="icon icon-{self.word()}"></span>
              {self.link("person-link")}</td>
            <td class="column-role">{self.words(2, 4)}</td>
            <td class="column-date"><time datetime="2024-05-{number + 10}">{number + 1} May 2024</time></td>
            <td class="column-note"><em>{self.words(1, 3)}</em><br>{self.words(1, 4)}</td>
          </tr>"""

    def style(self, _: int) -> str:
        return f"    .{self.word()}-{self.word()} {{ margin: 0 auto; padding: 4px; color: #336699; }}"

    def script(self, number: int) -> str:
        return f'    window.{self.word()} = function (x) {{ return x < {number} ? "<b>" + x + "</b>" : x; }};'

    def page(self) -> str:
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{self.words(3, 6).title()}</title>
  <meta name="description" content="{self.words(12, 20)}">
  <meta name="keywords" content="{", ".join(self.word() for _ in range(8))}">
  <link rel="stylesheet" href="/static/site.css">
  <style>
{self.lines(50, self.style)}
  </style>
  <script>
{self.lines(45, self.script)}
  </script>
</head>
<body class="page page-{self.word()}">
  <!-- the header of every page -->
  <div id="wrapper" class="container">
    <header class="site-header">
      <a class="logo" href="/"><img src="/logo.png" alt="{self.words(2, 3)}"></a>
      <nav class="navbar navbar-default" role="navigation"><ul class="nav navbar-nav">
{self.lines(12, lambda _: f'        <li class="nav-item">{self.link("nav-link")}</li>')}
      </ul></nav>
    </header>
    <main class="content">
      <h1>{self.words(3, 6).title()}</h1>
{self.lines(16, self.paragraph)}
      <table class="table table-striped">
{self.lines(16, self.row)}
      </table>
    </main>
    <aside class="sidebar"><ul class="menu">
{self.lines(12, lambda _: f'      <li class="menu-item"><span></span>{self.link()}</li>')}
    </ul></aside>
    <footer class="footer"><div class="footer-links">
{self.lines(11, lambda _: f"      {self.link()} |")}
      <p>&copy; 2024 {self.words(2, 4)} &ndash; {self.words(6, 10)}</p>
    </div></footer>
  </div>
</body>
</html>
"""


def read_with_wayhound(body: bytes) -> int:
    page = read_page(URL, body, "text/html", "utf-8")
    assert isinstance(page, Page)
    return len(page.links)


def parse_alone(body: bytes) -> int:
    return len(LexborHTMLParser(body.decode()).tags("a"))


def read_with_lxml(html: Any, body: bytes) -> int:
    """Title, words, and links with the ten words on either side, by one walk over the tree."""
    tree = html.document_fromstring(body.decode(), base_url=URL)
    tree.make_links_absolute()
    words: list[str] = []
    links: list[tuple[str, str, int, int]] = []
    for event, node in importlib.import_module("lxml.etree").iterwalk(tree.body, events=("start", "end")):
        if event == "start":
            if node.tag == "a":
                links.append((node.get("href"), node.text_content(), len(words), 0))
            words += re.findall(r"[^\W_]+", (node.text or "").lower())
        else:
            words += re.findall(r"[^\W_]+", (node.tail or "").lower())
    kept = [(to, said, words[max(0, at - 10) : at], words[at : at + 10]) for to, said, at, _ in links]
    return len(kept) if tree.findtext(".//title") else 0


def readers() -> dict[str, Callable[[bytes], int]]:
    found: dict[str, Callable[[bytes], int]] = {
        "read_page": read_with_wayhound,
        "the parser alone": parse_alone,
    }
    if importlib.util.find_spec("lxml"):
        html = importlib.import_module("lxml.html")
        found["lxml, the same reading"] = lambda body: read_with_lxml(html, body)
    return found


def measured(bodies: list[bytes]) -> dict[str, tuple[float, int]]:
    """Pages a CPU second and links found, by reader."""
    seconds: dict[str, list[float]] = {}
    links: dict[str, int] = {}
    for _ in range(ROUNDS):
        for name, read in readers().items():
            start = time.process_time()
            links[name] = sum(read(body) for body in bodies)
            seconds.setdefault(name, []).append(time.process_time() - start)
    return {name: (len(bodies) / min(taken), links[name]) for name, taken in seconds.items()}


def made_pages_report() -> Report:
    bodies = [Writer(seed).page().encode() for seed in range(PAGES)]
    size = statistics.mean(len(body) for body in bodies)
    results = measured(bodies)
    links = results["read_page"][1] / PAGES
    return Report(
        f"{PAGES} pages of {size / 1000:.1f} KB with {links:.0f} links, best of {ROUNDS} rounds",
        ("reader", "pages a CPU second", "links"),
        [(name, round(rate), found) for name, (rate, found) in results.items()],
        [
            Bar("pages a CPU second", results["read_page"][0], least=LEAST_PAGES_A_SECOND),
            Bar("KB a page", size / 1000, least=25.5, most=27),
            Bar("links a page", links, least=60),
        ],
    )


def recorded_pages(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    with folder.open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                content_type = record.http_headers.get_header("Content-Type", "")
                url = record.rec_headers.get_header("WARC-Target-URI")
                yield url, content_type, record.content_stream().read()


def recorded_pages_report(data: Path) -> Report:
    """Every set of sites in one row."""
    rows: list[tuple[str, int, int, int, int, int]] = []
    for folder in sorted(path for path in (data / "sites").iterdir() if path.is_dir()):
        archives = sorted(folder.glob("*/site.warc.gz"))
        bodies = [page for archive in archives for page in islice(recorded_pages(archive), REAL_PAGES_A_SITE)]
        start = time.process_time()
        outcomes = [read_page(url, body, content_type) for url, content_type, body in bodies]
        seconds = time.process_time() - start
        pages = [page for page in outcomes if isinstance(page, Page)]
        size = round(statistics.mean(len(body) for _, _, body in bodies))
        links = round(statistics.mean(len(page.links) for page in pages))
        unreadable = len(bodies) - len(pages)
        rows.append((folder.name, len(bodies), unreadable, size, links, round(len(bodies) / seconds)))
    header = ("set", "pages", "unreadable", "bytes a page", "links a page", "pages a CPU second")
    return Report(f"Recorded pages, at most {REAL_PAGES_A_SITE} a site", header, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    add_data_option(parser, required=False)
    arguments = parser.parse_args()
    reports = [made_pages_report()]
    if arguments.data:
        reports.append(recorded_pages_report(arguments.data))
    return finish(reports, arguments)


if __name__ == "__main__":
    sys.exit(main())
