"""Concept pages and relations in the portal, navigable both ways."""

from __future__ import annotations

import re
from pathlib import Path

from tests.chains.recorded_films import BASE, SITE, extracted_workspace
from tests.portal.served import serve_portal
from wayhound.app.goal_records import goal_id
from wayhound.app.index import build
from wayhound.workspace import Workspace


def test_a_relationship_is_browsed_both_ways(tmp_path: Path) -> None:
    folder = extracted_workspace(tmp_path)
    with Workspace.open(folder) as workspace:
        build(workspace)
    film, _, person = min(SITE.chains("Starring"))
    title = next(each.title for each in SITE.films if each.path == film)
    film_page, person_page = (f"/records/instance/{goal_id(BASE + path)}" for path in (film, person))
    with serve_portal(folder) as portal:
        forth = portal.get(film_page).text
        assert f'href="{person_page}"' in forth
        assert "Starring" in forth
        assert "Cast and Credits › " in forth  # the chain as a guide
        back = portal.get(person_page).text
        assert "acted in" in back
        assert f'href="{film_page}">{title}' in back
        found = portal.get("/search?q=concept:actor").text
        shown = set(re.findall(r'href="/records/instance/(\w+)"', found))
        assert shown
        assert shown <= {goal_id(BASE + path) for _, _, path in SITE.chains("Starring")}
        related = portal.get(f"{film_page}.json").json["related"]
        relation = portal.get(related[0]["pages"][0]["relation_url"]).text
        assert f'href="{film_page}"' in relation
