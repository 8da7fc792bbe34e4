"""Pages and links as JSON values, for trail files and for the store; what is read back is checked, not trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from wayhound.page import Link, LinkKind, Page

_LINK_FIELDS = {each.name: each.default for each in fields(Link)}
_PAGE_FIELDS = {each.name: each.default for each in fields(Page)}


def link_data(link: Link) -> dict[str, Any]:
    """What a link says; what is as usual is left out."""
    return _unusual(link, _LINK_FIELDS)


def page_data(page: Page) -> dict[str, Any]:
    data = _unusual(page, _PAGE_FIELDS)
    if page.links:
        data["links"] = [link_data(link) for link in page.links]
    return data


def _unusual(noun: Page | Link, usual: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: getattr(noun, name) for name in usual}
    return {name: _plain(value) for name, value in values.items() if value != usual[name]}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def digest_of(data: Mapping[str, Any]) -> str:
    """Names a page by its content: equal pages have equal digests."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class PageDigests:
    """Digests of pages, each taken once: the trails of a site share their first pages."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Page, str]] = {}  # by identity; holding the page keeps that its own

    def of(self, page: Page) -> str:
        if id(page) not in self._known:
            self._known[id(page)] = (page, digest_of(page_data(page)))
        return self._known[id(page)][1]


def link_from(data: object) -> Link:
    """A link from what JSON held; raises `ValueError` with the reason."""
    values = _checked(data, _LINK_FIELDS, "link")
    if values.get("kind", "a") not in get_args(LinkKind):
        raise ValueError(f"{values['kind']!r} is no kind of link")
    return Link(**values)


def page_from(data: object) -> Page:
    if isinstance(data, dict) and isinstance(data.get("links", []), list):
        links = tuple(map(link_from, data.get("links", [])))
        rest = {name: value for name, value in data.items() if name != "links"}
        return Page(**_checked(rest, _PAGE_FIELDS, "page"), links=links)
    raise ValueError("a page must be an object with a url and a list of links")


def _checked(data: object, known: Mapping[str, Any], noun: str) -> dict[str, Any]:
    """The known fields with the types they should have. Others are of a later version and left alone."""
    if not isinstance(data, dict) or not isinstance(data.get("url"), str) or not data["url"]:
        raise ValueError(f"a {noun} must be an object with a url")
    return {name: _typed(name, data[name], default) for name, default in known.items() if name in data}


def _typed(name: str, value: object, default: object) -> Any:
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return tuple(value)
        raise ValueError(f"{name} must be a list of texts")
    expected, wanted = (bool, "true or false") if isinstance(default, bool) else (str, "a text")
    if isinstance(value, expected):
        return value
    raise ValueError(f"{name} must be {wanted}")
