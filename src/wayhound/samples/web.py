"""The sample web: fourteen invented sites and those beside them, each built on first use, and writing them as files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from wayhound.samples.builder import SamplePage, SiteBuilder, Truth
from wayhound.samples.company import make_company
from wayhound.samples.department import make_department
from wayhound.samples.films import FilmSite
from wayhound.samples.grammar import slug, words
from wayhound.samples.sites import COMPANY_STYLES, DEPARTMENT_STYLES
from wayhound.samples.university import UniversitySite

Kind = Literal["department", "company"]
# Two sites use ISO 8859-1, and each declares it in one place only: in the HTTP header (True) or in the page.
UNIVERSITIES = 6
OLD_CHARSETS = {"math": True, "informatik": False}


class SampleSite:
    """One site. `pages` has its finite pages; `respond` also answers the endless URLs of traps."""

    start = "/"

    def __init__(self, name: str, kind: Kind, seed: int) -> None:
        facts = words("departments" if kind == "department" else "companies")[name]
        self.name = name
        self.kind = kind
        self.seed = seed
        self.host: str = facts["host"]
        self.title: str = facts["title"]
        self.language: str = facts["language"]
        self.special: str = facts["special"]

    @property
    def pages(self) -> Mapping[str, SamplePage]:
        """Pages by path and query; style sheets, pictures and robots.txt are in `assets`."""
        return self._built.pages

    @property
    def assets(self) -> Mapping[str, SamplePage]:
        return self._built.assets

    @property
    def broken(self) -> frozenset[str]:
        """Paths that are linked but do not exist."""
        return frozenset(self._built.broken)

    @property
    def truth(self) -> Truth:
        built = self._built
        return Truth(tuple(built.people), tuple(built.publications), tuple(built.contacts))

    def labels(self) -> dict[str, str]:
        return {path: page.label for path, page in self.pages.items()}

    def ranks(self) -> dict[str, str]:
        """Return the rank of each person's page by path: faculty, student or staff."""
        return {path: page.rank for path, page in self.pages.items() if page.rank}

    def respond(self, path: str) -> SamplePage:
        """Return the response to a path. It never fails and depends on the path alone."""
        return self._find(self._without_session(path.partition("#")[0])) or self._built.not_found

    def _find(self, path: str) -> SamplePage | None:
        built = self._built
        page = built.pages.get(path) or built.assets.get(path)
        if page is None:
            matches = ((pattern.fullmatch(path), answer) for pattern, answer in built.traps)
            page = next((built.html(answer(match), "trap") for match, answer in matches if match), None)
        return page

    def _without_session(self, path: str) -> str:
        name = self._built.session_parameter
        return re.sub(rf"[?&]{name}=\w*$", "", path) if name else path

    @cached_property
    def _built(self) -> SiteBuilder:
        charset = "iso-8859-1" if self.name in OLD_CHARSETS else "utf-8"
        site = SiteBuilder(self.host, charset, OLD_CHARSETS.get(self.name, True))
        if self.kind == "department":
            DEPARTMENT_STYLES[self.name](site, make_department(self.name, self.seed)).build()
        else:
            COMPANY_STYLES[self.name](site, make_company(self.name, self.seed)).build()
        return site


ServedSite = SampleSite | FilmSite | UniversitySite


class SampleWeb:
    """All sample sites, generated from one seed.

    `films` and `universities` stand beside them: the demo does not forage these.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.films = FilmSite(seed)
        self.universities = tuple(UniversitySite(number) for number in range(1, UNIVERSITIES + 1))
        self.sites: tuple[SampleSite, ...] = (
            *(SampleSite(name, "department", seed) for name in DEPARTMENT_STYLES),
            *(SampleSite(name, "company", seed) for name in COMPANY_STYLES),
        )

    def site(self, host: str) -> SampleSite | None:
        """Return the site of a Host header, with or without a port, or None."""
        return next((site for site in self.sites if site.host == _host_name(host)), None)

    def served(self, host: str) -> ServedSite | None:
        """Return what answers at a Host header: a site, the film catalogue or a university."""
        beside: tuple[ServedSite, ...] = (self.films, *self.universities)
        return next((site for site in beside if site.host == _host_name(host)), None) or self.site(host)

    def seeds(self, base_port: int, kind: Kind | None = None) -> list[str]:
        """Return start URLs, such as http://physics.localhost:8765/, of one kind of site or of all."""
        chosen = (site for site in self.sites if kind in (None, site.kind))
        return [f"http://{site.host}:{base_port}{site.start}" for site in chosen]


def _host_name(host: str) -> str:
    return (host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host).lower()


def sample_web(seed: int = 7) -> SampleWeb:
    return SampleWeb(seed)


HTML_ENDINGS = {".html", ".htm", ".pdf", ".css", ".svg", ".txt", ".xml"}


def write_folder(web: SampleWeb, out: Path) -> None:
    """Write one folder a site: `files/` with the pages, `labels.tsv`, `ranks.tsv`, `truth.jsonl`, `files.tsv`."""
    for site in web.sites:
        write_site(site, out / site.name)


def write_site(site: SampleSite, out: Path) -> None:
    names = file_names([*site.pages, *site.assets])
    for path, name in names.items():
        target = out / "files" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((site.pages.get(path) or site.assets[path]).body)
    base = f"http://{site.host}"
    _write_table(out / "labels.tsv", "label", {base + path: label for path, label in site.labels().items()})
    _write_table(out / "ranks.tsv", "label", {base + path: rank for path, rank in site.ranks().items()})
    _write_table(out / "files.tsv", "file", {base + path: name for path, name in names.items()})
    rows = (json.dumps(row, ensure_ascii=False) for row in site.truth.rows())
    (out / "truth.jsonl").write_text("".join(f"{row}\n" for row in rows), "utf-8")


def file_names(paths: Iterable[str]) -> dict[str, str]:
    """Return a file name for each path; a path that is a folder of others gets an index.html."""
    names: dict[str, str] = {}
    for path in paths:
        name = _file_name(path)
        while name in names.values():
            name = f"_{name}"
        names[path] = name
    return names


def _file_name(path: str) -> str:
    folder, _, query = unquote(path).partition("?")
    name = "/".join(part for part in folder.split("/") if part.strip("."))
    if query:
        return f"{name or 'index'}.{slug(query, '_')}.html"
    if Path(name).suffix in HTML_ENDINGS:
        return name
    return f"{name}/index.html".lstrip("/")


def _write_table(path: Path, column: str, rows: Mapping[str, str]) -> None:
    lines = [f"url\t{column}", *(f"{url}\t{value}" for url, value in rows.items())]
    path.write_text("\n".join(lines) + "\n", "utf-8")
