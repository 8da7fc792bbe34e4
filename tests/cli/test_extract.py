"""Facts from sites to tables: a forage that ends when it has them, exports, corrections, splits and merges."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.servers import Page, Served, serve
from wayhound.app.facts.extraction import build_graph, extract_facts
from wayhound.app.facts.review import correct_fact, mark_value, marked_page, merge_entities, split_entity
from wayhound.app.facts.search import PATIENCE, FactSearch, Wanted, parse_wanted
from wayhound.app.facts.tables import fact_rows
from wayhound.cli import run
from wayhound.errors import UsageError
from wayhound.fetched import Fetched
from wayhound.samples import sample_web, serve_samples
from wayhound.workspace import Workspace

ACME = (
    "<title>Contact - Acme Pumps</title><h1>Contact</h1><p>Acme Pumps Ltd<br>12 Main Street<br>Austin, TX 78701</p>"
    "<p>Phone: (512) 471-3434</p><p>info@acme-pumps.com</p><p>anna.berg@acme-pumps.com</p>"
    '<script type="application/ld+json">{"@type": "LocalBusiness", "name": "Acme Pumps", "geo": '
    '{"latitude": 30.2, "longitude": -97.7}}</script>'
)
PAGES: dict[str, Page] = {
    "//acme.localhost/": "<title>Acme Pumps</title><a href=/news>News</a><a href=/contact>Contact</a>",
    "//acme.localhost/contact": ACME,
    "//acme.localhost/news": "<title>News - Acme Pumps</title><p>Nothing new.</p>",
    "//bolt.localhost/": "<title>Bolt</title><p>We make bolts.</p><a href=/about>About</a>",
    "//bolt.localhost/about": "<title>About - Bolt</title><p>Write to office@bolt.org</p>",
}


class Firms:
    """A workspace and a table of firms."""

    def __init__(self, server: Served, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.workspace, self.table = folder / "mine", folder / "firms.csv"
        assert run(["init", str(self.workspace)]) == 0
        acme, bolt = server.at("acme.localhost"), server.at("bolt.localhost")
        self.table.write_text(
            f"firm,site,note\nAcme,{acme}/,a\nNobody,,b\nBolt,{bolt}/,c\nLater,later.example,d\n"
        )
        self.sites = [f"{acme}/", f"{bolt}/"]

    def forage(self, *more: str) -> int:
        options = ["--facts", "contact", "--delay", "0", "--allow-private", *more]
        return run(["forage", *self.sites, "-w", str(self.workspace), *options])

    def extract(self, *more: str) -> int:
        return run(["extract", "-w", str(self.workspace), *more])


@pytest.fixture
def firms(tmp_path: Path) -> Iterator[Firms]:
    with serve(PAGES) as server:
        yield Firms(server, tmp_path)


@pytest.fixture
def foraged(firms: Firms) -> Firms:
    assert firms.forage() == 0
    return firms


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_site_ends_when_its_facts_are_found(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        outcomes = workspace.stores.facts.outcomes()
    assert outcomes[foraged.sites[0]][1:] == ("facts found", 2)  # the start page and the contact page
    assert outcomes[foraged.sites[1]][1] == "no links left"


def test_the_pages_with_facts_are_the_goals(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        goals = [goal.url for goal in workspace.stores.goals.goals()]
    assert goals == [f"{foraged.sites[0]}contact", f"{foraged.sites[1]}about"]


def test_the_table_of_a_person_comes_back_with_facts_beside_its_columns(foraged: Firms) -> None:
    out = foraged.folder / "out.csv"
    assert foraged.extract("--wide", str(foraged.table), "--out", str(out)) == 0
    acme, nobody, bolt, later = rows_of(out)
    assert (acme["firm"], acme["note"], acme["email"], acme["phone"]) == (
        "Acme",
        "a",
        "info@acme-pumps.com",
        "'+15124713434",
    )
    assert acme["address"] == "12 Main Street, Austin, TX 78701"
    assert acme["source"] == f"{foraged.sites[0]}contact"
    statuses = [row["status"] for row in (acme, nobody, bolt, later)]
    assert statuses == [
        "found",
        "no web address in this row",
        "found, but no phone or address",
        "not visited yet",
    ]
    assert bolt["email"] == "office@bolt.org"


def test_one_command_goes_from_a_table_to_a_table(firms: Firms) -> None:
    out = firms.folder / "facts.xlsx"
    table = firms.folder / "two.csv"
    table.write_text("\n".join(firms.table.read_text().splitlines()[:2]))
    command = ["forage", str(table), "-w", str(firms.workspace), "--facts", "contact", "--out", str(out)]
    assert run([*command, "--delay", "0", "--allow-private"]) == 0
    with zipfile.ZipFile(out) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "info@acme-pumps.com" in sheet
    assert "<f>" not in sheet


def test_two_tables_give_a_row_for_each_of_their_sites(firms: Firms) -> None:
    tables = [firms.folder / "acme.csv", firms.folder / "bolt.csv"]
    for table, site in zip(tables, firms.sites, strict=False):
        table.write_text(f"firm,website\n{table.stem},{site}\n")
    out = firms.folder / "facts.csv"
    command = [
        "forage",
        *map(str, tables),
        "-w",
        str(firms.workspace),
        "--facts",
        "contact",
        "--out",
        str(out),
    ]
    assert run([*command, "--delay", "0", "--allow-private"]) == 0
    assert {row["site"] for row in rows_of(out)} == set(firms.sites[:2])


@pytest.mark.parametrize("name", ["facts.doc", "nowhere/facts.csv"])
def test_a_file_that_cannot_be_written_is_refused_before_the_forage(name: str, firms: Firms) -> None:
    out = str(firms.folder / name)
    command = ["forage", str(firms.table), "-w", str(firms.workspace), "--facts", "contact", "--out", out]
    assert run([*command, "--delay", "0", "--allow-private"]) == 2
    with Workspace.open(firms.workspace) as workspace:
        assert not workspace.stores.forage.runs()


def test_a_table_that_cannot_be_read_is_refused_before_pages_are(
    foraged: Firms, capsys: pytest.CaptureFixture[str]
) -> None:
    table = foraged.folder / "firms.xls"
    table.write_bytes(b"not a table")
    assert foraged.extract("--wide", str(table)) == 2
    shown = capsys.readouterr().err
    assert "is a spreadsheet" in shown
    assert "pages" not in shown


def test_without_a_file_the_facts_of_this_run_are_printed(
    foraged: Firms, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Facts alone are on stdout: neither the goals, nor facts of sites that other runs visited."""
    command = ["forage", foraged.sites[1], "-w", str(foraged.workspace), "--facts", "contact", "--delay", "0"]
    capfdbinary.readouterr()
    assert run([*command, "--allow-private"]) == 0
    (bolt,) = csv.DictReader(capfdbinary.readouterr().out.decode().splitlines())
    assert (bolt["email"], bolt["site"]) == ("office@bolt.org", foraged.sites[1])
    assert run([*command, "--allow-private", "--json"]) == 0
    (line,) = capfdbinary.readouterr().out.splitlines()
    assert json.loads(line) == bolt


def test_the_table_in_the_readme_is_what_the_command_writes(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    shown = readme.partition("```csv\n")[2].partition("```")[0]
    out, table = tmp_path / "facts.csv", tmp_path / "firms.csv"
    assert run(["init", str(tmp_path / "mine")]) == 0
    with serve_samples(sample_web()) as server:
        wanted = shown.replace(":8765", f":{server.port}")
        firms = [row[:2] for row in csv.reader(wanted.splitlines())]
        table.write_text("".join(",".join(row) + "\n" for row in firms), "utf-8")
        command = [
            "forage",
            str(table),
            "-w",
            str(tmp_path / "mine"),
            "--facts",
            "contact",
            "--out",
            str(out),
        ]
        assert run([*command, "--delay", "0", "--allow-private"]) == 0
    assert out.read_text("utf-8").splitlines() == wanted.splitlines()


def test_a_site_ends_when_pages_bring_no_new_facts(foraged: Firms) -> None:
    search = FactSearch(_wanted(foraged))
    page = Fetched("http://x.example/", 200, body=b"<p>Nothing here.</p>", content_type="text/html")
    reasons = []
    for _ in range(PATIENCE):
        reasons.append(search.end_reason)
        search.read(page)
    assert reasons == [""] * PATIENCE
    assert search.end_reason == "further pages have no new facts"


def _wanted(firms: Firms) -> Wanted:
    with Workspace.open(firms.workspace) as workspace:
        return parse_wanted(workspace, "contact")


@pytest.mark.parametrize(
    ("ending", "part"),
    [
        (".jsonl", '"email": "info@acme-pumps.com"'),
        (".vcf", "EMAIL:info@acme-pumps.com"),
        (".geojson", '"coordinates": [-97.7, 30.2]'),
        (".csv", "12 Main Street"),
    ],
)
def test_facts_are_written_in_many_formats(foraged: Firms, ending: str, part: str) -> None:
    out = foraged.folder / f"facts{ending}"
    assert foraged.extract("--out", str(out)) == 0
    assert part in out.read_text("utf-8")
    if ending == ".geojson":
        assert len(json.loads(out.read_text())["features"]) == 1


def test_unknown_kinds_fields_and_endings_are_explained(
    firms: Firms, capsys: pytest.CaptureFixture[str]
) -> None:
    assert firms.extract("spaceship") == 2
    assert firms.extract("restaurant:colour") == 2
    assert firms.extract("--out", "facts.doc") == 2
    assert run(["forage", "a.example", "-w", str(firms.workspace), "--out", "x.csv"]) == 2
    told = capsys.readouterr().err
    assert "There is no kind 'spaceship'" in told
    assert "Restaurant has no field 'colour'" in told
    assert "facts.doc ends in .doc" in told
    assert "say which with --facts" in told


def test_pages_are_not_read_again_and_entities_are_records(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        wanted = parse_wanted(workspace, "contact")
        first, second = extract_facts(workspace, wanted), extract_facts(workspace, wanted)
        assert (first.pages, first.written) == (0, 0)  # the forage did it
        assert (second.pages, second.entities) == (0, 2)
        record = next(
            r for r in workspace.stores.records.iterate("organisation") if r.first("email").startswith("info")
        )
        assert record.first("name") == "Acme Pumps"
        value = record.fields["phone"][0]
        assert value.source is not None
        assert value.source.url.endswith("/contact")
        assert record.first("url").startswith("http://acme.localhost")


def test_a_correction_holds_when_pages_are_read_again(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        wanted = parse_wanted(workspace, "contact")
        correct_fact(workspace, wanted, foraged.sites[0], "phone", ["+1 512 000"])
        extract_facts(workspace, wanted)
        row = next(row for row in fact_rows(workspace, wanted) if row.key == foraged.sites[0])
        assert row.texts("phone") == ["+1 512 000"]
        with pytest.raises(UsageError, match="Extract them first"):
            correct_fact(workspace, wanted, "http://nobody.example/", "phone", ["1"])


def test_a_merge_and_a_split_hold(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        wanted = parse_wanted(workspace, "contact")
        one, other = foraged.sites
        assert len(build_graph(workspace, wanted.kind)) == 2
        merge_entities(workspace, wanted.kind, one, other)
        assert len(build_graph(workspace, wanted.kind)) == 1
        assert len(list(workspace.stores.records.iterate("organisation"))) == 1
        split_entity(workspace, wanted.kind, one)
        assert len(build_graph(workspace, wanted.kind)) == 2


def test_persons_can_be_kept_out(firms: Firms) -> None:
    settings = firms.workspace / "wayhound.toml"
    settings.write_text(settings.read_text().replace("persons = true", "persons = false"))
    assert firms.forage() == 0
    with Workspace.open(firms.workspace) as workspace:
        rows = fact_rows(workspace, parse_wanted(workspace, "contact"))
        assert all("anna.berg" not in text for row in rows for text in row.texts("email"))
        with pytest.raises(UsageError, match="keep persons out"):
            parse_wanted(workspace, "person")


def test_a_value_marked_on_a_page_is_found_on_the_others_of_the_site(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        kind = parse_wanted(workspace, "contact").kind
        workspace.stores.facts.teach(kind.kind, f"{foraged.sites[0]}contact", "name", "Acme Pumps Ltd")
        extract_facts(workspace, parse_wanted(workspace, "organisation"))
        row = next(
            row for row in fact_rows(workspace, parse_wanted(workspace, "organisation")) if "acme" in row.key
        )
        assert row.texts("name") == ["Acme Pumps Ltd"]


def test_any_field_can_be_taught_and_becomes_a_column(foraged: Firms) -> None:
    contact = f"{foraged.sites[0]}contact"
    with Workspace.open(foraged.workspace) as workspace:
        wanted = parse_wanted(workspace, "organisation")
        mark_value(workspace, wanted, foraged.sites[0], contact, "legal", "Acme  Pumps Ltd")
        row = fact_rows(workspace, parse_wanted(workspace, "organisation:legal"))[0]
        assert row.texts("legal") == ["Acme Pumps Ltd"]
        _, lines = marked_page(workspace, wanted, foraged.sites[0], contact)
        shown = {fact.field: text for line in lines for text, fact in line.pieces if fact}
        assert shown["phone"] == "(512) 471-3434"
        with pytest.raises(UsageError, match="does not stand on"):
            mark_value(workspace, wanted, foraged.sites[0], contact, "legal", "Somebody Else")
        with pytest.raises(UsageError, match="is not archived"):
            mark_value(workspace, wanted, foraged.sites[0], "http://x.example/", "legal", "Acme")


def test_a_correction_that_stands_on_a_page_teaches_its_site(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        wanted = parse_wanted(workspace, "organisation")
        taught = correct_fact(workspace, wanted, foraged.sites[0], "name", ["Acme Pumps Ltd"])
        assert taught == (f"{foraged.sites[0]}contact",)
        assert workspace.stores.facts.examples("organisation") == [(*taught, "name", "Acme Pumps Ltd")]
        assert correct_fact(workspace, wanted, foraged.sites[0], "phone", ["+1 999"]) == ()


SEEN = (
    "<title>{0} - Guide</title><h1>{0}</h1>"
    "<table><tr><td>Chef</td><td>{1}</td></tr><tr><td>Owner</td><td>{2}</td></tr></table>"
)


def test_values_marked_on_two_pages_are_found_on_the_others_of_a_site(tmp_path: Path) -> None:
    people = [("Amber", "Ann Lee", "Bo Ray"), ("Basil", "Cy Dow", "Di Fox"), ("Clove", "Ed Gum", "Flo Hay")]
    pages: dict[str, Page] = {
        f"//guide.localhost/{name}": SEEN.format(name, chef, owner) for name, chef, owner in people
    }
    links = "".join(f"<a href=/{name}>{name}</a>" for name, _, _ in people)
    pages["//guide.localhost/"] = f"<title>Guide</title>{links}"
    assert run(["init", str(tmp_path / "mine")]) == 0
    with serve(pages) as server:
        start = f"{server.at('guide.localhost')}/"
        options = ["--strategy", "breadth-first", "--goal", "Guide", "--delay", "0", "--allow-private"]
        assert run(["forage", start, "-w", str(tmp_path / "mine"), *options]) == 0
    with Workspace.open(tmp_path / "mine") as workspace:
        wanted = parse_wanted(workspace, "restaurant")
        for name, chef, _ in people[:2]:
            mark_value(workspace, wanted, start, f"{start}{name}", "chef", chef)
        rows = {row.key: row for row in fact_rows(workspace, wanted)}
        assert rows[f"{start}Clove"].texts("chef") == ["Ed Gum"]


def test_a_field_marked_on_two_sites_is_found_on_a_third(tmp_path: Path) -> None:
    chefs = {"amber": "Ann Lee", "basil": "Cy Dow", "clove": "Ed Gum"}
    pages: dict[str, Page] = {
        f"//{name}.localhost/": f"<title>{name}</title><h1>{name}</h1><p>Guests: {len(name)}</p><p>Chef: {chef}</p>"
        for name, chef in chefs.items()
    }
    assert run(["init", str(tmp_path / "mine")]) == 0
    with serve(pages) as server:
        starts = [f"{server.at(f'{name}.localhost')}/" for name in chefs]
        options = ["--strategy", "breadth-first", "--goal", "a", "--delay", "0", "--allow-private"]
        assert run(["forage", *starts, "-w", str(tmp_path / "mine"), *options]) == 0
    with Workspace.open(tmp_path / "mine") as workspace:
        for start, chef in zip(starts[:2], chefs.values(), strict=False):
            wanted = parse_wanted(workspace, "organisation")
            mark_value(workspace, wanted, start, start, "chef", chef)
        extract_facts(workspace, parse_wanted(workspace, "organisation"))
        rows = {row.key: row for row in fact_rows(workspace, parse_wanted(workspace, "organisation:chef"))}
        assert rows[starts[2]].texts("chef") == ["Ed Gum"]


def test_relationships_between_firms_and_people_are_a_table_with_their_sources(tmp_path: Path) -> None:
    def stated(data: Mapping[str, object]) -> str:
        text = json.dumps({"@context": "https://schema.org", **data})
        return f"<title>{data['name']}</title><h1>{data['name']}</h1><script type='application/ld+json'>{text}</script>"

    firm = {"@type": "Organization", "name": "Acme Ltd"}
    pages: dict[str, Page] = {
        "//acme.localhost/": stated(firm) + "<a href=/ann>Ann</a>",
        "//acme.localhost/ann": stated({"@type": "Person", "name": "Ann Lee", "worksFor": firm}),
    }
    folder, out = str(tmp_path / "mine"), tmp_path / "links.jsonl"
    assert run(["init", folder]) == 0
    with serve(pages) as server:
        start = f"{server.at('acme.localhost')}/"
        options = ["--strategy", "breadth-first", "--goal", "Ann Lee", "--delay", "0", "--allow-private"]
        assert run(["forage", start, "-w", folder, *options]) == 0
    assert run(["extract", "organisation", "-w", folder, "--out", str(tmp_path / "firms.csv")]) == 0
    assert run(["extract", "person", "--relationships", "-w", folder, "--out", str(out)]) == 0
    (row,) = map(json.loads, out.read_text("utf-8").splitlines())
    assert (row["name"], row["relationship"], row["to"], row["kind"]) == (
        "Ann Lee", "works_for", "Acme Ltd", "organisation",
    )  # fmt: skip
    assert row["to_record"]
    assert row["source"] == f"{start}ann"
    assert run(["extract", "person", "--relationships", "-w", folder, "--format", "vcf"]) == 2


def test_relationships_of_a_run_are_those_of_its_sites(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def person(name: str, firm: str) -> str:
        data = {"@type": "Person", "name": name, "worksFor": {"@type": "Organization", "name": firm}}
        return f"<title>{name}</title><h1>{name}</h1><script type='application/ld+json'>{json.dumps(data)}</script>"

    pages: dict[str, Page] = {
        "//acme.localhost/": person("Ann Lee", "Acme Ltd"),
        "//blum.localhost/": person("Bo Blum", "Blum Inc"),
    }
    folder, out = str(tmp_path / "mine"), tmp_path / "links.jsonl"
    assert run(["init", folder]) == 0
    with serve(pages) as server:
        for host in ("acme.localhost", "blum.localhost"):
            options = ["--strategy", "breadth-first", "--delay", "0", "--allow-private"]
            assert run(["forage", f"{server.at(host)}/", "-w", folder, *options]) == 0
    command = ["extract", "person", "--relationships", "-w", folder, "--out", str(out)]
    assert run([*command, "--run", "2"]) == 0
    assert [json.loads(line)["name"] for line in out.read_text("utf-8").splitlines()] == ["Bo Blum"]
    assert run(command) == 0
    assert len(out.read_text("utf-8").splitlines()) == 2
    (tmp_path / "firms.csv").write_text("url\nhttps://acme.example/\n", "utf-8")
    assert run([*command, "--wide", str(tmp_path / "firms.csv")]) == 2
    assert "--wide has no place" in capsys.readouterr().err


def test_explain_shows_each_fact_in_its_place_without_a_model(
    foraged: Firms, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"{foraged.sites[0]}contact"
    assert run(["explain", url, "-w", str(foraged.workspace), "--facts", "organisation:phone,fax"]) == 0
    shown = capsys.readouterr()
    assert "+15124713434" in shown.out
    assert "Phone:" in shown.out  # the text before it
    assert "Not on this page: fax." in shown.err
    assert run(["explain", url, "-w", str(foraged.workspace), "--facts", "contact", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["facts"]
    (phone,) = (fact for fact in facts if fact["field"] == "phone")
    assert (phone["text"], phone["source"], phone["end"] - phone["start"]) == ("+15124713434", "text", 14)
