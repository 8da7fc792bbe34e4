"""What every page of the portal is made with: templates, readers, settings."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from wayhound.app.papers.works import CITED_ONLY, SPEC
from wayhound.portal.addresses import field_query, search_url, to_key
from wayhound.portal.library import Readers
from wayhound.record_kinds import KINDS
from wayhound.web.limits import Buckets, RateLimiter
from wayhound.web.pages import Pages, json_answer

SITE_NAME = "Wayhound"
FORMAT_TYPES = {
    "BibTeX": "application/x-bibtex",
    "RIS": "application/x-research-info-systems",
    "CSL-JSON": "application/vnd.citationstyles.csl+json",
    "JSON-LD": "application/ld+json",
    "JSON": "application/json",
}


@dataclass(frozen=True, slots=True)
class PortalSettings:
    """What the operator says of his portal. `public_url` is where visitors find it."""

    name: str = SITE_NAME
    public_url: str = ""
    contact: str = ""
    agent: str = "Wayhound"
    allow_private: bool = False
    submissions_per_hour: float = 20.0


@dataclass
class Portal:
    """Shared by the routes. What takes long goes to `slow_readers`, and nobody waits for it but who asked."""

    settings: PortalSettings
    readers: Readers
    slow_readers: Readers
    pages: Pages
    buckets: Buckets
    submitting: RateLimiter = field(init=False)

    def __post_init__(self) -> None:
        hourly = self.settings.submissions_per_hour
        self.submitting = RateLimiter(hourly / 3600, hourly / 2, buckets=self.buckets, name="submitting")

    def base_url(self, request: Request) -> str:
        """The origin that absolute addresses begin with: what the operator said, or what was asked for."""
        return self.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")

    def html(self, request: Request, template: str, view: Any, **values: Any) -> Response:
        return self.pages.html(request, template, view=view, base_url=self.base_url(request), **values)

    def json(self, request: Request, view: Any, **values: Any) -> Response:
        return json_answer(request, view, **values)


def make_pages(settings: PortalSettings) -> Pages:
    pages = Pages("wayhound.portal", {"site_name": settings.name, "format_types": FORMAT_TYPES})
    pages.add_filters(_FILTERS)
    return pages


def _milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value / 1000:.2f} s"


def iso_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%-d %B %Y")


def _kind_label(kind: str) -> str:
    known = KINDS.get(kind) or (SPEC if kind == CITED_ONLY else None)
    return known.label if known else kind.replace("_", " ").capitalize()


def _facet_label(value: str, facet: str) -> str:
    """Of a topic's path its last name; of a kind what people call it."""
    if facet == "topic":
        return value.rsplit(" › ", 1)[-1]
    return _kind_label(value) if facet == "type" else value


_FILTERS: Mapping[str, Any] = {
    "milliseconds": _milliseconds,
    "iso_time": iso_time,
    "day": day,
    "kind_label": _kind_label,
    "key": to_key,
    "kind_url": lambda kind: search_url(field_query("type", kind)),
    "facet_label": _facet_label,
    "author_url": lambda name: search_url(field_query("author", name)),
    "host": lambda url: urlsplit(url).hostname or "",
}


def now() -> float:
    return time.time()
