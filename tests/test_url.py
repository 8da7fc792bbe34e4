"""The normal form of URLs, and the site that a URL belongs to."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wayhound.url import MAX_URL_CHARS, host_of, normalise, registrable_domain, url_tokens

BASE = "http://www.example.org/people/staff/index.html?all=1"

AWKWARD_PARTS = """
http: https: // / \\ .. . ? # & = % %2e %41 %7E %zz ; : :80 :0 @ [ ] ::1 127.1 0x xn-- a example.org
jsessionid= sid= 0123456789abcdef utm_source=x Ü ß İ 。 １ \ud800
"""
AWKWARD = st.sampled_from([*AWKWARD_PARTS.split(), *"\t\n \u00a0\x00"])
WEIRD_URLS = st.one_of(st.text(), st.lists(AWKWARD, max_size=12).map("".join))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://example.org:443/A", "https://example.org/A"),
        ("https://example.org:0080/", "https://example.org:80/"),
        ("http://example.org:/", "http://example.org/"),
        ("http://example.org./", "http://example.org/"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/a/b/..", "http://example.org/a/"),
        ("http://example.org/../../a", "http://example.org/a"),
        ("http://example.org/%7eann/%c3%a9", "http://example.org/~ann/%C3%A9"),
        ("http://example.org/%2e%2E/a", "http://example.org/a"),
        ("http://example.org/é ü", "http://example.org/%C3%A9%20%C3%BC"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("http://example.org/a%2Fb", "http://example.org/a%2Fb"),
        ("http://example.org/a#top", "http://example.org/a"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org/?b=2&&a=1", "http://example.org/?b=2&a=1"),
        ("http://example.org/?q=a+b&r=[1]", "http://example.org/?q=a+b&r=%5B1%5D"),
        ("  http://example.org/a\n/b ", "http://example.org/a/b"),
        ("http:\\\\example.org\\a?b\\c", "http://example.org/a?b%5Cc"),
        ("http:example.org/a", "http://example.org/a"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://EXAMPLE。org/", "http://example.org/"),
        ("http://%65xample.org/", "http://example.org/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433:8000/", "http://127.0.0.1:8000/"),
        ("http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/"),
        ("http://ann:secret@example.org/", "http://example.org/"),
    ],
)
def test_spellings_of_one_url_have_one_normal_form(url: str, expected: str) -> None:
    assert normalise(url) == expected


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("", "http://www.example.org/people/staff/index.html?all=1"),
        ("#top", "http://www.example.org/people/staff/index.html?all=1"),
        ("?all=0", "http://www.example.org/people/staff/index.html?all=0"),
        ("ann.html", "http://www.example.org/people/staff/ann.html"),
        ("../", "http://www.example.org/people/"),
        ("../../../../x", "http://www.example.org/x"),
        ("/news", "http://www.example.org/news"),
        ("//cdn.example.org/x", "http://cdn.example.org/x"),
        ("http:ann.html", "http://www.example.org/people/staff/ann.html"),
        ("http:?all=0", "http://www.example.org/people/staff/index.html?all=0"),
        ("https:/other.example/x", "https://other.example/x"),
        ("12:30.html", "http://www.example.org/people/staff/12:30.html"),
    ],
)
def test_relative_links_are_resolved_against_the_page(link: str, expected: str) -> None:
    assert normalise(link, BASE) == expected


@pytest.mark.parametrize(
    "url",
    [
        "mailto:ann@example.org",
        "javascript:void(0)",
        "data:text/html,hello",
        "ftp://example.org/",
        "page.html",
        "http://",
        "http:///",
        "http://exa mple.org/",
        "http://example..org/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://09.1.1.1/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://example.org:99999/",
        "http://example.org:0/",
        "http://example.org:port/",
        "http://" + "a." * 130 + "example/",
        "http://example.org/" + "a" * MAX_URL_CHARS,
    ],
)
def test_a_url_that_cannot_be_fetched_has_no_normal_form(url: str) -> None:
    assert normalise(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/a?utm_source=x&utm_medium=y&id=3",
        "http://example.org/a?gclid=xyz&id=3&fbclid=",
        "http://example.org/a?PHPSESSID=abc123&id=3",
        "http://example.org/a;jsessionid=1A2B.node1?id=3",
        "http://example.org/a?id=3&sid=0123456789abcdef0123456789ABCDEF",
        "http://example.org/a?CFID=12&CFTOKEN=34&id=3",
        "http://example.org/a?%75tm_source=x&id=3",
    ],
)
def test_parameters_that_identify_the_visitor_are_dropped(url: str) -> None:
    assert normalise(url) == "http://example.org/a?id=3"


@pytest.mark.parametrize("query", ["sid=12", "session=keynote", "s=search+words", "sessionid=4b", "utm=1"])
def test_parameters_that_may_identify_a_page_stay(query: str) -> None:
    assert normalise(f"http://example.org/?{query}") == f"http://example.org/?{query}"


@given(url=WEIRD_URLS, base=st.one_of(st.just(""), st.just(BASE), WEIRD_URLS))
@example(url="http://a/.;jsessionid=1/b", base="")
@example(url="http://a/%%34%31", base="")
@example(url="http://１２７.1/", base="")
def test_the_normal_form_is_its_own_normal_form(url: str, base: str) -> None:
    once = normalise(url, base)
    assert normalise(once) == once
    assert normalise(once, BASE) in {once, normalise(BASE)}  # "" is a link to the page itself


@given(url=WEIRD_URLS)
def test_a_normal_form_is_plain_ascii_with_a_host_and_no_fragment(url: str) -> None:
    once = normalise("http://example.org/" + url)
    assert once.startswith("http://example.org/")
    assert once.isascii()
    assert not set(once) & set('#\\<>"{}|^` []')


@given(url=WEIRD_URLS, base=WEIRD_URLS)
def test_any_text_gives_a_host_a_domain_and_words_without_an_exception(url: str, base: str) -> None:
    assert registrable_domain(url) in host_of(url)
    assert all(url_tokens(url))
    once = normalise(url)
    assert host_of(once) == once.partition("//")[2].partition("/")[0]


@pytest.mark.parametrize(
    ("url", "host", "domain"),
    [
        ("http://www.cs.cornell.edu/Info", "www.cs.cornell.edu", "cornell.edu"),
        ("https://www.example.co.uk:8443/", "www.example.co.uk:8443", "example.co.uk"),
        ("http://ann.github.io/", "ann.github.io", "ann.github.io"),
        ("http://github.io/", "github.io", "github.io"),
        ("http://WWW.Example.org:80", "www.example.org", "example.org"),
        ("http://127.0.0.1:8001/", "127.0.0.1:8001", "127.0.0.1:8001"),
        ("http://[::1]:8001/", "[::1]:8001", "[::1]:8001"),
        ("http://localhost/", "localhost", "localhost"),
        ("http://physics.localhost:8000/", "physics.localhost:8000", "physics.localhost:8000"),
        ("http://intranet:8080/", "intranet:8080", "intranet:8080"),
        ("http://пример.испытание/", "xn--e1afmkfd.xn--80akhbyknj4f", "xn--e1afmkfd.xn--80akhbyknj4f"),
        ("mailto:ann@example.org", "", ""),
        ("", "", ""),
    ],
)
def test_a_url_belongs_to_a_host_and_a_registrable_domain(url: str, host: str, domain: str) -> None:
    assert host_of(url) == host
    assert registrable_domain(url) == domain


def test_the_words_of_a_url_are_those_of_the_paper() -> None:
    words = url_tokens("http://www-2.cs.cmu.edu/~svc/papers/view-publications-ck12004.html")
    assert words == ("~svc", "~", "papers", "view", "publications", "ck12004", "html")


def test_parameters_give_words_too() -> None:
    words = url_tokens("http://example.org/List_All.php?Dept=computer+science&page=%322")
    assert words == ("list", "all", "php", "dept", "computer", "science", "page", "22")
