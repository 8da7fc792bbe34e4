from __future__ import annotations

from wayhound.visit import Visit, path_to

SITE = "http://s.example/"
VISITS = [
    Visit(SITE, number, f"{SITE}{number}", "ok", at=0.0, parent=parent)
    for number, parent in enumerate((None, 0, 0, 1))
]


def test_a_path_goes_from_the_start_page_to_the_visit() -> None:
    assert [visit.number for visit in path_to(3, VISITS.__getitem__)] == [0, 1, 3]


def test_the_path_to_nowhere_is_empty() -> None:
    assert path_to(None, VISITS.__getitem__) == ()
