"""The sets of recorded sites on which lessons of a few trails are measured, and the goals to find on each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wayhound.app.evaluate.world import World, load_worlds


@dataclass(frozen=True, slots=True)
class SiteSet:
    """Folders under `sites/` of the data folder, and labels of pages."""

    folders: tuple[str, ...]
    goals: tuple[str, ...]


SETS = {
    "modern": SiteSet(
        (
            "modern-research", "modern-conference", "modern-docs", "modern-company", "modern-nonprofit",
            "modern-hospitality", "modern-catalogue", "modern-small",
        ),
        (
            "contact", "person", "publication", "project", "news", "news-item", "service", "product", "guide", "about",
            "jobs", "venue", "committee",
        ),
    ),
    "departments": SiteSet(("departments", "webkb"), ("faculty", "course", "project", "student")),
    "academic": SiteSet(("academic",), ("people", "person", "publications", "publication", "contact")),
    "company": SiteSet(("company",), ("contact", "about")),
    "javadoc": SiteSet(("javadoc",), ("package", "class")),
}  # fmt: skip


def load_set(name: str, data: Path) -> list[World]:
    """Return the sites of a set under a data folder."""
    return load_worlds([data / "sites" / folder for folder in SETS[name].folders])
