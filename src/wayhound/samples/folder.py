"""Writes the sample web as plain files, for looking at and for tools that want a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote

from wayhound.samples.people import slug
from wayhound.samples.web import SampleSite, SampleWeb

HTML_ENDINGS = {".html", ".htm", ".pdf", ".css", ".svg", ".txt", ".xml"}


def write_folder(web: SampleWeb, out: Path) -> None:
    """A folder each: `files/` with the pages, `labels.tsv`, `ranks.tsv`, `truth.jsonl` and `files.tsv`."""
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
    """A file name for each path; what is a folder to others becomes its index.html."""
    names: dict[str, str] = {}
    for path in paths:
        name = _file_name(path)
        while name in names.values():
            name = f"_{name}"
        names[path] = name
    return names


def _file_name(path: str) -> str:
    before, _, query = unquote(path).partition("?")
    name = "/".join(part for part in before.split("/") if part.strip("."))
    if query:
        return f"{name or 'index'}.{slug(query, '_')}.html"
    if Path(name).suffix in HTML_ENDINGS:
        return name
    return f"{name}/index.html".lstrip("/")


def _write_table(path: Path, column: str, rows: Mapping[str, str]) -> None:
    lines = [f"url\t{column}", *(f"{url}\t{value}" for url, value in rows.items())]
    path.write_text("\n".join(lines) + "\n", "utf-8")
