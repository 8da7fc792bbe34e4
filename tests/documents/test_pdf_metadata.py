"""What PDFs state about themselves: publishers' packets, and titles of the document information."""

from __future__ import annotations

import pytest

from wayhound.documents.pdf_metadata import stated_fields

PACKET = """%PDF-1.7 <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description
 prism:volume="12" xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/">
 <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Soil &amp; Water</rdf:li></rdf:Alt></dc:title>
 <prism:aggregationType>{kind}</prism:aggregationType>
 <prism:publicationName>Annals of Examples</prism:publicationName>
 <prism:number>3</prism:number><prism:startingPage>45</prism:startingPage><prism:endingPage>67</prism:endingPage>
 <prism:coverDate>2009-05-01</prism:coverDate>
 <prism:doi>10.1234/examples.2009.45</prism:doi></rdf:Description></rdf:RDF></x:xmpmeta> %%EOF"""


def stated(body: str, title: str = "") -> dict[str, tuple[str, ...]]:
    return stated_fields({"Title": title}, body.encode())


def test_a_publisher_s_packet_tells_where_the_article_appeared() -> None:
    assert stated(PACKET.format(kind="journal")) == {
        "title": ("Soil & Water",),
        "journal": ("Annals of Examples",),
        "volume": ("12",),
        "number": ("3",),
        "pages": ("45-67",),
        "year": ("2009",),
        "doi": ("10.1234/examples.2009.45",),
    }


def test_the_beginning_of_unix_s_time_is_no_date() -> None:
    assert "year" not in stated(PACKET.format(kind="journal").replace("2009-05-01", "1970-01-01"))


def test_a_chapter_appeared_in_a_book() -> None:
    fields = stated(PACKET.format(kind="book"))
    assert fields["booktitle"] == ("Annals of Examples",)
    assert "journal" not in fields


def test_the_document_information_has_the_title_before_the_packet() -> None:
    assert stated(PACKET.format(kind="journal"), "Water in Soil\x00")["title"] == ("Water in Soil",)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "%PDF-1.4",
        "<x:xmpmeta>",
        "<x:xmpmeta></x:xmpmeta>",
        "<x:xmpmeta><prism:doi>none</prism:doi></x:xmpmeta>",
    ],
)
def test_files_without_such_statements_state_nothing(body: str) -> None:
    assert stated(body) == {}


def test_values_of_the_length_of_a_page_are_no_values() -> None:
    assert stated("", "word " * 200) == {}
