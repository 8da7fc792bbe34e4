"""Strangers' words and visitors' tricks: nothing runs, nothing leaks, nothing is fetched."""

from __future__ import annotations

import http.client
import re
import socket
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.portal.collection import HOSTILE_PAGE, HOSTILE_TITLE, START, paper_id
from tests.portal.served import Served, serve_portal
from tests.portal.test_pages import CONTACT, PAGES, PAPER, TWINS, page, texts
from wayhound.portal.portal import PortalSettings
from wayhound.web.app import WebSettings

HOSTILE = f"/records/paper/{paper_id(9)}"
HOSTILE_SEARCH = "/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E+mallory"
EVERYTHING = [
    *PAGES.values(),
    *TWINS.values(),
    HOSTILE,
    f"{HOSTILE}/map",
    HOSTILE_SEARCH,
    "/nothing-here",
    "/search.atom",
    "/oai?verb=ListRecords&metadataPrefix=oai_dc",
    "/robots.txt",
    "/sitemap-part.xml",
    f"{PAPER}/archived",
]


@pytest.mark.parametrize("path", EVERYTHING)
def test_every_answer_carries_safe_headers(portal: Served, path: str) -> None:
    headers = portal.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "server" not in headers


@pytest.mark.parametrize("path", ["/topics", "/topics.json", "/search?q=tides", HOSTILE_SEARCH])
def test_a_page_that_was_made_before_is_guarded_like_a_new_one(portal: Served, path: str) -> None:
    new, again = portal.get(path), portal.get(path)
    assert again.body == new.body
    assert again.headers | {"date": ""} == new.headers | {"date": ""}
    assert portal.get(path, Host="evil.example").status == 400
    assert portal.get(path, If_None_Match=new.headers["etag"]).status == 304
    assert portal.send("HEAD", path, None, {}).headers["etag"] == new.headers["etag"]
    assert portal.send("POST", path, b"", {}).status == 405
    assert portal.get(f"{path.partition('?')[0]}?q=other&limit=0").status == 400


@pytest.mark.parametrize(
    "path", [*PAGES.values(), HOSTILE, f"{HOSTILE}/map", f"{HOSTILE}/correct", HOSTILE_SEARCH]
)
def test_no_page_has_inline_script_style_or_handlers(portal: Served, path: str) -> None:
    tree = page(portal, path)
    for script in tree.css("script"):
        assert script.attributes.get("type") == "application/ld+json" or (
            str(script.attributes["src"]).startswith("/static/") and not script.text()
        )
    assert not tree.css("style")
    for node in tree.css("*"):
        for name, value in node.attributes.items():
            assert not name.startswith("on"), (node.tag, name)
            assert name != "style"
            if name in {"href", "src", "action"}:
                assert re.match(r"(https?://|mailto:|/|#|\?)", str(value)), (node.tag, value)


def test_a_hostile_title_is_text_wherever_it_stands(portal: Served) -> None:
    tree = page(portal, HOSTILE)
    assert texts(tree, "h1") == [" ".join(HOSTILE_TITLE.split())]
    assert not tree.css("main img[src=x]")
    for path in (
        "/",
        "/search?q=mallory",
        "/topics/computer-science/machine-learning/neural-networks",
        f"{HOSTILE}/map",
    ):
        body = portal.get(path).text
        assert "<script>alert" not in body
        assert "<img src=x" not in body


def test_a_title_cannot_end_the_data_block(portal: Served) -> None:
    got = portal.get(HOSTILE).text
    block = got.split('<script type="application/ld+json">')[1].split("</script>")[0]
    assert "<" not in block
    assert "\\u003cscript\\u003e" in block


def test_addresses_of_other_schemes_are_not_made_links(portal: Served) -> None:
    assert "javascript:" not in [str(node.attributes.get("href")) for node in page(portal, HOSTILE).css("a")]
    assert 'href="javascript' not in portal.get(HOSTILE).text


def test_an_archived_page_is_plain_text_in_a_sandbox(portal: Served) -> None:
    got = portal.get(f"{CONTACT}/archived")
    assert got.body == HOSTILE_PAGE
    assert got.headers["content-type"] == "text/plain; charset=utf-8"
    assert got.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert got.headers["x-content-type-options"] == "nosniff"


def test_an_archived_paper_is_a_download_in_a_sandbox(portal: Served) -> None:
    got = portal.get(f"{PAPER}/archived")
    assert got.body.startswith(b"%PDF-")
    assert got.headers["content-type"] == "application/pdf"
    assert got.headers["content-disposition"].startswith("attachment")
    assert got.headers["content-security-policy"].startswith("sandbox; default-src 'none'")


@pytest.mark.parametrize(
    "path",
    [
        "/static/000000000000/../../../etc/passwd",
        "/static/000000000000/..%2f..%2f..%2fetc%2fpasswd",
        "/static/../app.py",
        "/static/x/base.css/../../pages.py",
        "/records/paper/..%2F..%2Fwayhound.db",
        "/records/paper/../../wayhound.db",
        "/records/..%2f..%2f/x",
        "/records/paper/=Li4vLi4vdHJhaWxtYXJrLmRi/archived",
        "/records/paper/%00/archived",
        "/topics/../../etc/passwd",
        "/export/..%2F..%2Fwayhound.db.jsonl",
        "/wayhound.toml",
        "//etc/passwd",
    ],
)
def test_no_path_leads_out(portal: Served, path: str) -> None:
    got = portal.get(path)
    assert got.status in {400, 404}
    assert b"root:" not in got.body
    assert b"SQLite format" not in got.body


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "//evil.example/%2f..",
        "/\\evil.example",
        "/topics//evil.example/",
        "/search/?q=//evil.example",
        "/submit?next=https://evil.example/",
        "/about/",
    ],
)
def test_nobody_is_sent_to_another_site(portal: Served, path: str) -> None:
    got = portal.get(path)
    if 300 <= got.status < 400:
        assert got.headers["location"].startswith((portal.url + "/", "/"))
        assert not got.headers["location"].startswith("//")
        assert "evil" not in got.headers["location"].split("?")[0]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8000/x",
        "http://10.0.0.7/",
        "http://[::1]/",
        "http://169.254.169.254/latest",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://017700000001/",
        "http://[::ffff:127.0.0.1]/",
        "http://192.168.1.1/",
        "http://intranet/",
        "http://foo.localhost/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://example.org:25/",
        "not a url at all",
        "http://",
        "https://user:pass@127.0.0.1/",
    ],
)
def test_private_and_strange_addresses_cannot_be_submitted(portal: Served, url: str) -> None:
    got = portal.post("/submit", {"kind": "site", "url": url})
    assert got.status == 400
    assert "cannot be visited" in got.text or "not a web address" in got.text
    assert texts(LexborHTMLParser(got.body), "[role=alert]")


def test_submitting_connects_to_nobody(portal: Served) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.3)
        port = listening.getsockname()[1]
        for host in ("localtest.example", "example.org"):
            assert (
                portal.post("/submit", {"kind": "paper", "url": f"http://{host}:{port}/p.pdf"}).status == 303
            )
        with pytest.raises(TimeoutError):
            listening.accept()


def test_forms_of_other_sites_are_not_taken(portal: Served) -> None:
    form = {"kind": "paper", "url": "https://example.org/p.pdf"}
    assert portal.post("/submit", form, origin="https://evil.example").status == 400
    assert portal.post("/submit", form, sec_fetch_site="cross-site").status == 400
    torn = portal.post("/submit", form, origin="http://[")
    assert torn.status == 400
    assert "default-src" in torn.headers["content-security-policy"]
    assert portal.post("/submit", form, origin=portal.url).status == 303


def test_the_server_answers_under_its_own_names_alone(portal: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", portal.port, timeout=120)
    connection.request("GET", "/", headers={"Host": "rebound.evil.example"})
    assert connection.getresponse().status == 400
    connection.close()


def test_large_bodies_are_refused_however_they_are_sent(portal: Served) -> None:
    whole = portal.send(
        "POST", "/submit", b"url=" + b"x" * 200_000, {"content-type": "application/x-www-form-urlencoded"}
    )
    assert whole.status == 413
    connection = http.client.HTTPConnection("127.0.0.1", portal.port, timeout=120)
    pieces = (b"x" * 10_000 for _ in range(30))
    headers = {"content-type": "application/x-www-form-urlencoded", "transfer-encoding": "chunked"}
    connection.request("POST", "/submit", pieces, headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_files_and_broken_forms_are_refused(portal: Served) -> None:
    for kind, body in (
        (
            "multipart/form-data; boundary=x",
            b"--x\r\nContent-Disposition: form-data; name=url; filename=a\r\n\r\nb\r\n--x--",
        ),
        ("multipart/form-data; boundary=x", b"--nonsense"),
        ("multipart/form-data", b"nothing"),
    ):
        assert portal.send("POST", "/submit", body, {"content-type": kind}).status == 400
    json_body = b'{"url": "http://example.org/"}'
    assert portal.send("POST", "/submit", json_body, {"content-type": "application/json"}).status == 415


def test_who_asks_too_often_must_wait(collection: Path) -> None:
    with serve_portal(collection, web=WebSettings(requests_per_second=0.001, burst=5)) as served:
        answers = [served.get("/search?q=a") for _ in range(8)]
        json_answer = served.get("/search.json?q=a")
    assert [got.status for got in answers] == [200] * 5 + [429] * 3
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert "many requests in a short time" in answers[-1].text
    assert "default-src 'none'" in answers[-1].headers["content-security-policy"]
    assert json_answer.json["status"] == 429


def test_a_forwarded_address_that_is_none_is_refused_and_one_network_shares_a_limit(collection: Path) -> None:
    with serve_portal(collection, web=WebSettings(requests_per_second=0.001, burst=2)) as served:
        forged = served.get("/search?q=a", x_forwarded_for="whoever-1")
        network = [
            served.get("/search?q=a", x_forwarded_for=f"2001:db8::{part}:b:c:d").status for part in "abc"
        ]
        other = served.get("/search?q=a", x_forwarded_for="2001:db8:0:1::1").status
    assert forged.status == 400
    assert "default-src" in forged.headers["content-security-policy"]
    assert (network, other) == ([200, 200, 429], 200)


def test_who_sends_too_much_must_wait(own_collection: Path) -> None:
    with serve_portal(own_collection, PortalSettings(submissions_per_hour=4)) as served:
        sent = [
            served.post("/submit", {"kind": "paper", "url": f"https://example.org/{n}.pdf"}).status
            for n in range(4)
        ]
        typo = served.post("/submit", {"kind": "paper", "url": "http://127.0.0.1/"}).status
        read = served.get("/").status
    assert sent == [303, 303, 429, 429]
    assert (typo, read) == (400, 200)


def test_a_record_of_a_site_is_not_found_by_a_second_spelling_of_its_key(portal: Served) -> None:
    assert portal.get(CONTACT).status == 200
    assert portal.get(f"{CONTACT}=").status == 404
    assert START not in portal.get(f"{CONTACT}=").text
