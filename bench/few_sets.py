"""The sets of recorded sites on which lessons of a few trails are measured, and the goals to find on each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wayhound.app.evaluate.world import World, load_worlds
from wayhound.archive.site_folder import find_site_folders
from wayhound.errors import UsageError


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


OWN_CONCEPTS = {
    "contact": ("contact", "imprint", "hours"),
    "person": ("person", "people", "team", "faculty", "author", "speaker", "student"),
    "publication": ("publication", "research"),
    "project": ("project", "research"),
    "news": ("news", "blog", "press", "archive"),
    "news-item": ("news", "blog", "press", "archive"),
    "service": ("service",),
    "product": ("product", "shop", "price", "category"),
    "guide": ("guide", "install", "faq", "api", "support"),
    "about": ("about", "history"),
    "jobs": ("job",),
    "venue": ("venue", "contact"),
    "committee": ("committee",),
    "faculty": ("faculty", "people", "person", "team"),
    "course": ("course",),
    "student": ("student", "people", "person", "team"),
}
"""The concepts by which the lexicon names each goal. Ignored, they measure goals that it does not name."""


def load_set(name: str, data: Path) -> list[World]:
    """Return the sites of a set under a data folder, which need not have all folders of the set.

    Raises UsageError if it has no site of it.
    """
    folders = [data / "sites" / folder for folder in SETS[name].folders]
    present = [folder for folder in folders if folder.is_dir()]
    if not present:
        raise UsageError(f"The data folder has none of {', '.join(SETS[name].folders)}.")
    return load_worlds(present)


def whole_departments(data: Path) -> frozenset[str]:
    """Return the names of the sites that are whole departments of many hundred pages."""
    folder = data / "sites" / "webkb"
    return frozenset(path.name for path in find_site_folders(folder)) if folder.is_dir() else frozenset()
