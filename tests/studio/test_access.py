"""Nobody gets in without the token, under another name, or by another site's forms."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.studio.conftest import TOKEN, Visitor
from wayhound.studio.access import Access, derived, new_token

get = partial(httpx.get, verify=False)  # loads no certificates, which takes longer than a page
PATHS = ("/", "/trails", "/trails/1", "/train", "/jobs/1.json", "/nowhere", "/openapi.json")


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_shown(address: str, path: str) -> None:
    answer = get(f"{address.rstrip('/')}{path}")
    assert answer.status_code == 403
    assert "one.example" not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "ü"])
def test_a_wrong_token_lets_nobody_in(address: str, token: str) -> None:
    answer = get(address, params={"token": token}, follow_redirects=True)
    assert answer.status_code == 403


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(address: str) -> None:
    answer = get(f"{address}trails?token={TOKEN}&notice=hello")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/trails?notice=hello"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie


def test_the_redirect_never_leads_to_another_host(address: str) -> None:
    where = urlsplit(address)
    assert where.hostname is not None
    with socket.create_connection((where.hostname, where.port or 80)) as line:
        line.sendall(f"GET //evil.example/?token={TOKEN} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
        told = line.recv(4000).decode().lower()
    assert "location: /evil.example/" in told


@pytest.mark.parametrize("value", ["", "wrong", "ü", '"ü"', r'"\374"'])
def test_a_wrong_cookie_lets_nobody_in(address: str, value: str) -> None:
    name = get(f"{address}?token={TOKEN}").headers["set-cookie"].partition("=")[0]
    cookie = f"{name}={value}".encode("latin-1")
    assert get(address, headers={b"cookie": cookie}).status_code == 403


def test_with_the_cookie_the_pages_open(visitor: Visitor) -> None:
    assert "4 trails on 2 sites" in visitor.get("/")


def test_requests_under_a_foreign_name_are_refused(visitor: Visitor) -> None:
    for name in ("evil.example", "evil.example:80", "127.0.0.1.evil.example"):
        answer = visitor.client.get("/", headers={"host": name})
        assert answer.status_code == 400
        assert "trails" not in answer.text


def test_a_form_needs_the_key_of_our_own_pages(visitor: Visitor) -> None:
    for fields in ({}, {"form_key": ""}, {"form_key": "0" * 64}, {"form_key": "ü"}):
        answer = visitor.client.post("/trails/1/delete", data=fields)
        assert answer.status_code == 403
    assert "Ann Example" in visitor.get("/trails")


def test_a_form_from_another_origin_is_refused(visitor: Visitor) -> None:
    for headers in (
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"origin": "null"},
        {"origin": "http://["},
    ):
        answer = visitor.client.post("/trails/1/delete", headers=headers)
        assert answer.status_code == 400


def test_pages_may_load_nothing_from_elsewhere_and_not_be_framed(visitor: Visitor) -> None:
    answer = visitor.client.get("/trails")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def passes(kind: str, path: str, headers: dict[str, str]) -> bool:
    """Return True if the guard of the studio lets a request through to the application; else it answers itself."""
    reached: list[str] = []
    answers: list[Message] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope["path"])

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        assert message["type"] != "websocket.accept"
        answers.append(message)

    raw = [(name.encode(), text.encode()) for name, text in headers.items()]
    state = SimpleNamespace(state=SimpleNamespace(pages=SimpleNamespace(render=lambda *_, **__: "")))
    scope = {
        "type": kind, "path": path, "headers": raw, "query_string": b"", "method": "GET", "app": state,
    }  # fmt: skip
    asyncio.run(Access(application, TOKEN)(scope, receive, send))
    assert bool(answers) is not bool(reached)
    assert kind != "websocket" or answers in ([], [{"type": "websocket.close", "code": 1008}])
    return bool(reached)


def cookie() -> str:
    return f"wayhound_studio_{derived(TOKEN, 'name')[:12]}={derived(TOKEN, 'cookie')}"


HERE = "studio.localhost:80"


@pytest.mark.parametrize(
    ("origin", "is_let_in"),
    [
        (f"http://{HERE}", True),
        ("http://evil.example", False),
        ("http://[", False),
        ("null", False),
        ("", False),
    ],
)
def test_a_socket_of_another_site_is_refused_whatever_its_cookie(origin: str, is_let_in: bool) -> None:
    assert passes("websocket", "/teach", {"host": HERE, "origin": origin, "cookie": cookie()}) is is_let_in


def test_a_socket_needs_the_cookie_on_every_path() -> None:
    for path in ("/teach", "/static/x/y.js"):
        assert not passes("websocket", path, {"host": HERE, "origin": f"http://{HERE}"})


def test_static_files_need_no_cookie_and_all_else_does() -> None:
    assert passes("http", "/static/x/y.js", {"host": HERE})
    assert not passes("http", "/trails", {"host": HERE})
    assert passes("http", "/trails", {"host": HERE, "cookie": cookie()})
    assert not passes("http", "/trails", {"host": HERE, "cookie": "a@b=c"})  # not a cookie at all


def test_a_token_cannot_be_guessed() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 32 for token in tokens)
