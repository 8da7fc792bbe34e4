"""Lists of start pages as people have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayhound.app.site_list import SiteList, is_address, read_sites, read_table, start_pages
from wayhound.errors import UsageError


def sites(text: str, *, is_table: bool = False) -> list[str]:
    sites = SiteList()
    sites.add_text(text, "list", is_table=is_table)
    return list(sites.sites)


def test_blank_lines_comments_line_ends_and_repetitions_do_not_matter() -> None:
    text = "# mine\r\n\r\nacme.example\r\nhttp://acme.example/#top\r\nHTTP://ACME.example  # again\r\nb.example/en\r\n"
    assert sites(text) == ["http://acme.example/", "http://b.example/en"]


def test_hosts_that_belong_to_the_site_may_follow_its_start() -> None:
    sites = SiteList()
    sites.add_text("https://a.example/ www.a.example people.a.example:8080", "list")
    [site] = sites.sites.values()
    assert site.hosts == ("www.a.example", "people.a.example:8080")


@pytest.mark.parametrize(
    "line", ["not a url at all", "http://exa mple/", "ftp://a.example/", "Acme Ltd", "http://"]
)
def test_a_line_that_is_no_address_is_skipped_and_named(line: str, tmp_path: Path) -> None:
    text = f"a.example\n{line}\nb.example\n"
    listed = SiteList()
    listed.add_text(text, "list")
    assert list(listed.sites) == ["http://a.example/", "http://b.example/"]
    assert listed.skipped == ["list, line 2"]
    (tmp_path / "list.txt").write_text(text)
    starts = [start for _, start in read_table(tmp_path / "list.txt").rows]
    assert starts == ["http://a.example/", "", "http://b.example/"]


def test_a_line_of_a_form_for_a_few_addresses_has_to_be_one() -> None:
    assert start_pages("a.example\nb.example") == ["http://a.example/", "http://b.example/"]
    with pytest.raises(UsageError, match=r"'mailto:x' is not a web address .*the list, line 2"):
        start_pages("a.example\nmailto:x")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_gives_the_column_that_is_headed_as_addresses(mark: str) -> None:
    rows = [
        ["Company", "Found by", "Website"],
        ["Acme", "old.example", "acme.example"],
        ["Bit & Co", "", "https://bit.example"],
    ]
    assert sites("\n".join(mark.join(row) for row in rows)) == [
        "http://acme.example/",
        "https://bit.example/",
    ]


def test_a_table_without_headings_gives_what_looks_like_an_address() -> None:
    assert sites('"Acme, Inc.",acme.example\n"Bit",https://bit.example', is_table=True) == [
        "http://acme.example/",
        "https://bit.example/",
    ]


def test_one_column_with_a_heading_is_a_table_too() -> None:
    assert sites("website\nacme.example\n", is_table=True) == ["http://acme.example/"]
    assert sites("URL\nacme.example\n") == ["http://acme.example/"]


def test_rows_without_an_address_are_told_and_not_guessed() -> None:
    sites = SiteList()
    sites.add_text("name,website\nAcme,acme.example\nBit,\nCog,soon\n", "list.csv", is_table=True)
    assert list(sites.sites) == ["http://acme.example/"]
    assert sites.skipped == ["list.csv, line 3", "list.csv, line 4"]


def test_an_address_with_commas_is_no_table() -> None:
    assert sites("http://a.example/1,2,3.html\nb.example/x;y\n") == [
        "http://a.example/1,2,3.html",
        "http://b.example/x;y",
    ]


@pytest.mark.parametrize(
    "text", ["acme.example", "müller.example/über", "localhost:8765", "127.0.0.1:80/", "http://intranet/"]
)
def test_what_people_call_an_address_is_one(text: str) -> None:
    assert is_address(text)


@pytest.mark.parametrize(
    "text", ["acme", "ann@acme.example", "mailto:ann@acme.example", "3.14", "Acme Inc.", ""]
)
def test_names_and_numbers_are_no_addresses(text: str) -> None:
    assert not is_address(text)


def test_lines_within_a_cell_stay_in_it(tmp_path: Path) -> None:
    table = tmp_path / "firms.csv"
    note = "founded\n1999\u2028in Larkin\x0bby two"
    table.write_bytes(f'name,note,website\r\nAcme,"{note}",acme.example\r\nBit,,\r\n'.encode())
    assert read_table(table).rows == (
        (("Acme", note, "acme.example"), "http://acme.example/"),
        (("Bit", "", ""), ""),
    )
    sites = read_sites([str(table)])
    assert list(sites.sites) == ["http://acme.example/"]
    assert sites.skipped == [f"{table}, line 4"]


@pytest.mark.parametrize("text", ["", "# later\n", "Acme Ltd\n", "name,town\nAcme,Larkin\n"])
def test_a_file_without_any_address_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text(text)
    with pytest.raises(UsageError, match=r"There is no web address in .*firms\.csv\."):
        read_sites([str(tmp_path / "firms.csv")])


def test_an_argument_that_is_no_address_is_named_once() -> None:
    with pytest.raises(UsageError) as error:
        read_sites(["ftp://acme.example/"])
    assert str(error.value) == "'ftp://acme.example/' is not a web address that can be fetched."
