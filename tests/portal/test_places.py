"""Records with coordinates on a map that needs nothing from outside."""

from __future__ import annotations

from pathlib import Path

from tests.portal.served import serve_portal
from tests.portal.test_pages import page, texts
from wayhound.app.index import build
from wayhound.portal.places import WIDTH, place_map
from wayhound.record import Record, Span, Value
from wayhound.workspace import Workspace

CITIES = {"Berlin": "52.52,13.405", "Wien": "48.21,16.37", "Praha": "50.09,14.42"}


def organisation(city: str, coordinates: str) -> Record:
    source = Span(f"https://{city.lower()}.example/contact", 3, 9)
    fields = {
        "name": (Value(f"Pumpen {city}", 0.9, source),),
        "phone": (
            Value("+49 30 1", 0.9, source),
            Value("+49 30 2", 0.4, Span("https://other.example/", 5, 9)),
        ),
        "coordinates": (Value(coordinates),),
        "url": (Value(source.url), Value("https://other.example/")),
    }
    return Record("organisation", city.lower(), fields, source.url)


def test_points_keep_their_directions_and_stay_inside() -> None:
    drawn = place_map([(52.52, 13.405, "Berlin", "/b"), (48.21, 16.37, "Wien", "/w")], "/w")
    assert drawn is not None
    berlin, wien = drawn.points
    assert (berlin.x < wien.x, berlin.y < wien.y, wien.here) == (True, True, True)
    assert all(0 < point.x < WIDTH and 0 < point.y < drawn.height for point in drawn.points)
    assert {line.label[-1] for line in drawn.grid} == {"E", "N"}
    assert place_map([]) is None
    for places in ([(0.0, 0.0, "", "")], [(89.9, -180.0, "", ""), (-89.9, 180.0, "", "")]):
        assert place_map(places) is not None


def test_results_and_records_show_where_they_are_and_every_source(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        workspace.stores.records.save([*(organisation(*city) for city in CITIES.items())])
        build(workspace)
    with serve_portal(tmp_path / "w") as portal:
        found = page(portal, "/search?q=pumpen")
        assert len(found.css(".places circle")) == 3
        assert sorted(texts(found, ".places title")) == ["Pumpen Berlin", "Pumpen Praha", "Pumpen Wien"]
        one = page(portal, "/records/organisation/wien")
        assert len(one.css(".places .here")) == 1
        sources = " ".join(texts(one, "dl.fields dd"))
        assert "https://wien.example/contact" in sources
        assert "at other.example" in sources
        assert "unsure" in sources
        assert "src=http" not in portal.get("/search?q=pumpen").text
