"""The page about the sample web names every site and every label."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from wayhound.samples import SampleSite
from wayhound.samples.builder import Label

PAGE = Path(__file__).parents[2] / "docs" / "samples.md"


def test_the_table_says_of_each_site_what_is_true(site: SampleSite) -> None:
    pages = sum(page.status == 200 for page in site.pages.values())
    row = f"| `{site.host}` | {site.title} | {site.language} | {pages} | {site.special} |"
    assert row in PAGE.read_text("utf-8").splitlines()


def test_every_label_is_explained() -> None:
    text = PAGE.read_text("utf-8")
    assert all(f"`{label}`" in text for label in get_args(Label))
