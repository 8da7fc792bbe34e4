"""The sample web: fourteen invented sites, each made when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from wayhound.samples.builder import SamplePage, SiteBuilder, Truth
from wayhound.samples.company import make_company
from wayhound.samples.department import make_department
from wayhound.samples.sites import COMPANY_STYLES, DEPARTMENT_STYLES
from wayhound.samples.words import words

Kind = Literal["department", "company"]
# Two sites are in the character set of their time, and each names it in one place only.
OLD_CHARSETS = {"math": True, "informatik": False}  # name of the site: is it named in the header?


class SampleSite:
    """One site. `pages` are all that can be counted; traps answer without end through `respond`."""

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
        """By path with query; style sheets, pictures and robots.txt are in `assets`."""
        return self._built.pages

    @property
    def assets(self) -> Mapping[str, SamplePage]:
        return self._built.assets

    @property
    def broken(self) -> frozenset[str]:
        """Paths that are linked to although they are not there."""
        return frozenset(self._built.broken)

    @property
    def truth(self) -> Truth:
        built = self._built
        return Truth(tuple(built.people), tuple(built.publications), tuple(built.contacts))

    def labels(self) -> dict[str, str]:
        return {path: page.label for path, page in self.pages.items()}

    def ranks(self) -> dict[str, str]:
        """The paths of people's own pages, and whether they are faculty, students or staff."""
        return {path: page.rank for path, page in self.pages.items() if page.rank}

    def respond(self, path: str) -> SamplePage:
        """What the site answers; never fails, and depends on the path alone."""
        known = self._known(self._without_session(path.partition("#")[0]))
        return known or self._built.not_found

    def _known(self, path: str) -> SamplePage | None:
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


class SampleWeb:
    """All sample sites of one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.sites: tuple[SampleSite, ...] = (
            *(SampleSite(name, "department", seed) for name in DEPARTMENT_STYLES),
            *(SampleSite(name, "company", seed) for name in COMPANY_STYLES),
        )

    def site(self, host: str) -> SampleSite | None:
        """The site of a Host header, with or without a port."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        return next((site for site in self.sites if site.host == name.lower()), None)

    def seeds(self, base_port: int, kind: Kind | None = None) -> list[str]:
        """Start URLs, such as http://physics.localhost:8765/."""
        chosen = (site for site in self.sites if kind in (None, site.kind))
        return [f"http://{site.host}:{base_port}{site.start}" for site in chosen]


def sample_web(seed: int = 7) -> SampleWeb:
    return SampleWeb(seed)
