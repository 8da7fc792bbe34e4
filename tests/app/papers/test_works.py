"""Fields that a paper lacks are filled in from the papers that cite it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayhound.app.papers.works import AS_CITED, fill_from_citations
from wayhound.citations.citation import Citation
from wayhound.record import Record, Value
from wayhound.store.papers import PaperStore, StoredCitation
from wayhound.store.sqlite import SqliteDatabase

PAPER = Record("paper", "held", {"title": (Value("Soap films"),)})


@pytest.fixture
def papers(tmp_path: Path) -> PaperStore:
    return PaperStore(SqliteDatabase(tmp_path / "papers.db"))


def cites(papers: PaperStore, paper: str, **fields: str) -> None:
    result: dict[str, tuple[Value, ...]] = {name: (Value(text),) for name, text in fields.items()}
    papers.save_paper(paper, [StoredCitation(paper, 1, 7, Citation(), fields=result)])


def test_year_and_venue_come_from_the_papers_that_cite(papers: PaperStore) -> None:
    papers.save_paper("held", [StoredCitation("held", 0, 7, Citation())])
    cites(papers, "one", year="1997", journal="Annals of Soft Films")
    cites(papers, "two", year="1997", booktitle="Some proceedings")
    cites(papers, "three", year="1979")
    result = fill_from_citations(papers, PAPER)
    assert result.fields["year"] == (Value("1997", 0.5, AS_CITED),)
    assert result.first("journal") == "Annals of Soft Films"
    assert "booktitle" not in result.fields, "a paper appeared in one place"
    assert result.fields["title"] == PAPER.fields["title"]


def test_what_a_paper_says_itself_counts_more(papers: PaperStore) -> None:
    papers.save_paper("held", [StoredCitation("held", 0, 7, Citation())])
    cites(papers, "one", year="1997", journal="Annals of Soft Films")
    own = Record("paper", "held", {"year": (Value("1996"),), "journal": (Value("Letters"),)})
    assert fill_from_citations(papers, own) == own
    assert fill_from_citations(papers, Record("document", "held")) == Record("document", "held")
