"""The gate stands before all layers of the application, and templates escape what they are given."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import markupsafe
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from starlette.types import Scope

from wayhound.web.app import WebSettings, make_app, running
from wayhound.web.pages import Pages, RenderedPage

SETTINGS = WebSettings(requests_per_second=0)


@asynccontextmanager
async def nothing(_: FastAPI) -> AsyncIterator[None]:
    yield


@pytest.fixture
def pages() -> Pages:
    return Pages("wayhound.portal", {"site_name": "A portal"})


def test_an_error_page_has_the_safe_headers_too(pages: Pages) -> None:
    app = make_app("A portal", "", pages, SETTINGS, nothing)

    @app.get("/broken")
    def broken() -> str:
        raise ZeroDivisionError

    with running(app) as address:
        answer = httpx.get(f"{address}broken")
    assert answer.status_code == 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_page_that_cannot_be_made_at_once_is_left_to_its_route(
    pages: Pages, caplog: pytest.LogCaptureFixture
) -> None:
    def find_page(scope: Scope) -> RenderedPage | None:
        if scope["path"] == "/known":
            return RenderedPage(b"known", "text/plain", '"1"')
        raise ZeroDivisionError

    app = make_app("A portal", "", pages, SETTINGS, nothing, find_page=find_page)

    @app.get("/other")
    def other() -> str:
        return "from the route"

    with running(app) as address, caplog.at_level(logging.ERROR, "wayhound.serve"):
        assert httpx.get(f"{address}known").text == "known"
        assert httpx.get(f"{address}other").json() == "from the route"
    assert [record.getMessage() for record in caplog.records] == ["/other could not be made at once"]


@given(st.text())
def test_templates_escape_text_as_markupsafe_does(text: str) -> None:
    drawn = Pages("wayhound.portal", {})._environment.from_string("{{ text }}").render(text=text)
    expected = str(markupsafe.escape(text))
    assert drawn == expected


@pytest.mark.parametrize("value", [Markup("<b>bold</b>"), 3, 0.5, None, True, ["<", "'"]])
def test_templates_write_other_values_as_markupsafe_does(pages: Pages, value: object) -> None:
    drawn = pages._environment.from_string("{{ value }}").render(value=value)
    assert drawn == str(markupsafe.escape(value))
