"""Mouse and key events are validated, and the studio says when no browser is open."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.studio.conftest import Visitor
from wayhound.studio.access import derived
from wayhound.studio.remote_browser import KeyEvent, MouseEvent, read_events
from wayhound.web.pages import BadRequest

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
event_like = st.fixed_dictionaries(
    {"do": st.sampled_from(["press", "release", "move", "wheel", "down", "up", "jump"])},
    optional=dict.fromkeys(
        ["x", "y", "button", "clicks", "modifiers", "wheelX", "wheelY", "key", "code", "text", "keyCode"],
        json_values,
    ),
)


def test_mouse_and_keys_are_read() -> None:
    press, key = read_events(
        [{"do": "press", "x": 0.5, "y": 2, "button": 2, "clicks": 1}, {"do": "down", "key": "a", "text": "a"}]
    )
    assert press == MouseEvent("mousePressed", 0.5, 1.0, "right", 1)
    assert key == KeyEvent("keyDown", "a", "", "a")


@given(json_values | st.lists(event_like, max_size=4))
def test_anything_else_is_refused_and_never_a_fault(told: Any) -> None:
    try:
        events = read_events(told)
    except BadRequest:
        return
    for event in events:
        if isinstance(event, MouseEvent):
            assert 0 <= event.x <= 1
            assert 0 <= event.y <= 1


def test_more_than_a_person_can_do_at_once_is_refused() -> None:
    with pytest.raises(BadRequest):
        read_events([{"do": "move"}] * 201)


def test_without_an_open_browser_there_is_nothing_to_see_or_do(visitor: Visitor) -> None:
    assert "Open the browser" in visitor.get("/teach")
    visitor.get("/teach/picture", status=410)
    visitor.get("/teach/now", status=400)
    assert "No browser is open" in visitor.send("/teach", "/teach/do", status=400, do="goal")
    assert "no such button" in visitor.send("/teach", "/teach/do", status=400, do="dance")
    assert "not a web address that can be fetched" in visitor.send(
        "/teach", "/teach", status=400, urls="mailto:x"
    )


def test_events_need_the_key_of_our_own_page(visitor: Visitor) -> None:
    from tests.studio.conftest import TOKEN

    assert visitor.client.post("/teach/events", json=[]).status_code == 403
    key = {"x-form-key": derived(TOKEN, "form")}
    assert visitor.client.post("/teach/events", json=[{"do": "move"}], headers=key).status_code == 204
    assert visitor.client.post("/teach/events", json={"do": 1}, headers=key).status_code == 400
    assert visitor.client.post("/teach/events", content=b"{", headers=key).status_code == 400
