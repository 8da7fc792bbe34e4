"""The sample web as files."""

from __future__ import annotations

import json
from pathlib import Path

from wayhound.samples import SampleSite, SampleWeb, write_folder
from wayhound.samples.web import file_names, write_site


def table(path: Path) -> dict[str, str]:
    lines = path.read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines[1:])


def test_every_page_is_a_file_with_its_bytes_and_its_label(site: SampleSite, tmp_path: Path) -> None:
    write_site(site, tmp_path)
    files, labels = table(tmp_path / "files.tsv"), table(tmp_path / "labels.tsv")
    assert len(set(files.values())) == len(files)
    for path, page in site.pages.items():
        url = f"http://{site.host}{path}"
        assert (tmp_path / "files" / files[url]).read_bytes() == page.body
        assert labels[url] == page.label


def test_records_of_truth_are_json_lines(site: SampleSite, tmp_path: Path) -> None:
    write_site(site, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == len(list(site.truth.rows()))
    assert {row["kind"] for row in rows} <= {"person", "publication", "contact"}


def test_each_site_gets_a_folder(web: SampleWeb, tmp_path: Path) -> None:
    write_folder(web, tmp_path)
    assert {folder.name for folder in tmp_path.iterdir()} == {site.name for site in web.sites}


def test_addresses_that_would_be_one_file_become_two() -> None:
    names = file_names(["/", "/index.html", "/a?b=1", "/a?b=1&", "/x", "/x/"])
    assert len(set(names.values())) == 6
    assert names["/"] == "index.html"


def test_file_names_stay_inside_the_folder() -> None:
    for name in file_names(["/../../etc/passwd", "/%2e%2e/x", "/a/../b", "//c"]).values():
        assert ".." not in Path(name).parts
        assert not Path(name).is_absolute()
