from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.pages.prose import SNIPPET_CHARS, Prose, read_prose, shorten

CONTACT = """<html lang="en-GB"><head><title>Contact · Larkin</title>
<meta name="description" content="Lights that like the rain"></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<h1>Contact us</h1><p>Write, call or <b>k</b>nock.</p>
<address>18 Ropewalk<br>Port Larkin</address>
<ul><li><a href="/a">Lanterns for boats and quays</a></li><li><a href="/b">Lanterns for gardens</a></li></ul>
<script>var hidden = 1</script><p hidden>Nobody sees this.</p>
<footer>Larkin Lanterns, since 1911</footer></body></html>"""


def read(html: str) -> Prose:
    return read_prose(html.encode(), "text/html; charset=utf-8")


def test_the_text_has_a_line_for_each_block_as_people_read_it() -> None:
    prose = read(CONTACT)
    assert prose.text.splitlines() == [
        "Home Shop", "Contact us", "Write, call or knock.", "18 Ropewalk", "Port Larkin",
        "Lanterns for boats and quays", "Lanterns for gardens", "Larkin Lanterns, since 1911",
    ]  # fmt: skip
    assert (prose.title, prose.description, prose.language) == (
        "Contact · Larkin", "Lights that like the rain", "en-gb",
    )  # fmt: skip


def test_the_snippet_is_content_and_the_rest_has_everything_else_once() -> None:
    prose = read(CONTACT)
    assert prose.snippet == "Contact us · Write, call or knock. 18 Ropewalk · Port Larkin"
    assert prose.rest == ""
    assert prose.around.splitlines() == [
        "Home Shop", "Lanterns for boats and quays", "Lanterns for gardens", "Larkin Lanterns, since 1911",
    ]  # fmt: skip


def test_where_the_page_says_little_its_own_description_is_the_snippet() -> None:
    prose = read("<meta name=description content='Sails, made by hand.'><body><p>Welcome!</p>")
    assert prose.snippet == "Sails, made by hand."
    assert prose.rest == "Welcome!"
    assert read("<body><p>Welcome!</p>").snippet == "Welcome!"
    assert read("<body><a href=/x>Only a link</a>").snippet == "Only a link"


def test_the_first_passage_that_says_enough_is_taken_not_the_longest_of_all() -> None:
    first = "The point of this page comes first, in a sentence of some words. " * 3
    last = "Cookies and terms and conditions and more of what nobody came for, again and again. " * 3
    assert read(f"<p>{first}</p><p>x</p><p>{last}</p>").snippet.startswith("The point of this page")


def test_plain_text_and_other_files() -> None:
    prose = read_prose(b"Just text.\n\n  And   more. ", "text/plain")
    assert (prose.text, prose.snippet, prose.rest) == ("Just text.\nAnd more.", "Just text. And more.", "")
    assert read_prose(b"%PDF-1.4", "application/pdf") == Prose()
    assert read_prose(b"", "text/html") == Prose()


@settings(max_examples=200)
@given(
    st.text(max_size=400),
    st.sampled_from(["<p>", "<nav>", "<a href=x>", "</p>", "<div><div>", "&#x1c;", "\x1e"]),
)
def test_whatever_the_page_is_the_snippet_is_short_and_nothing_is_raised(text: str, tag: str) -> None:
    prose = read(f"{tag}{text}{tag}{text}")
    assert len(prose.snippet) <= SNIPPET_CHARS + 2
    assert "\n" not in prose.snippet
    assert len(shorten(text, 50)) <= 52
