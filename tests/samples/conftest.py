"""The sample web and a walk over each of its sites, made once."""

from __future__ import annotations

from functools import cache

import pytest

from tests.samples.walk import Walked, walk
from wayhound.samples import SampleSite, SampleWeb, sample_web

WEB = sample_web()


@cache
def walked_site(name: str) -> Walked:
    return walk(next(site for site in WEB.sites if site.name == name))


@pytest.fixture(scope="session")
def web() -> SampleWeb:
    return WEB


@pytest.fixture(scope="session", params=WEB.sites, ids=lambda site: site.name)
def site(request: pytest.FixtureRequest) -> SampleSite:
    chosen: SampleSite = request.param
    return chosen


@pytest.fixture
def walked(site: SampleSite) -> Walked:
    return walked_site(site.name)
