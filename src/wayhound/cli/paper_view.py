"""One paper at a terminal: its fields, references and citations as text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wayhound.app.papers.overview import PaperCitation, PaperOverview, PaperReference
from wayhound.cli.console import plain_table
from wayhound.record import Record, Value
from wayhound.record_kinds import spec_of
from wayhound.store.papers import PaperCorrection, StoredContext
from wayhound.wording.papers import NO_TITLE, format_place
from wayhound.wording.quantities import count, shorten

SHORT_ID = 8  # characters of an id that are enough to find it
_LONG_TEXT = 600  # characters of a value that are shown
_LONG_SENTENCE = 300


def overview_parts(paper: PaperOverview) -> Iterator[RenderableType]:
    """Yield everything known about a paper, in the order in which it is read."""
    yield Text(paper.record.first("title") or NO_TITLE, style="bold")
    yield _about_file(paper)
    yield ""
    yield _fields_table(paper.record)
    references = [_reference(reference, paper.titles) for reference in paper.references]
    for heading, parts in (
        (f"References ({len(references)})", references),
        (f"Cited by ({paper.n_cited_by})", [_citing(citation) for citation in paper.cited_by]),
        ("Corrections", [_correction(correction) for correction in paper.corrections]),
    ):
        if parts:
            yield ""
            yield Text(heading, style="bold")
            yield from parts


def _about_file(paper: PaperOverview) -> Text:
    file, lines = paper.file, list[str]()
    if file:
        size = f"{count(file.page_count, 'page')} · {count(file.size, 'byte')}"
        lines.append(f"{paper.record.id} · {file.name} · {size}")
    if paper.record.kind == "document" and file:
        lines.append(f"Not a paper: {file.detail}")
    for source in paper.sources:
        path = " › ".join(click or "(no text)" for click in source.path)
        lines.append(f"found at {source.url}" + (f" by way of {path}" if path else ""))
    if paper.versions:
        lines.append(f"The same work as {', '.join(paper.versions)}")
    return Text("\n".join(lines), style="dim")


def _fields_table(record: Record) -> Table:
    table = plain_table("field", "value", "confidence", "place", right=("confidence",))
    spec = spec_of(record.kind, record.fields)
    order = [field.name for field in spec.fields]
    names = sorted(record.fields, key=lambda name: order.index(name) if name in order else len(order))
    for name in names:
        for number, value in enumerate(record.fields[name]):
            label = spec.field(name).shown if number == 0 else ""
            text = Text(shorten(value.text, _LONG_TEXT))
            table.add_row(label, text, f"{value.confidence:.2f}", format_place(value))
    return table


def _reference(reference: PaperReference, titles: Mapping[str, str]) -> Group:
    citation = reference.citation
    about = Text(citation.citation.title or shorten(citation.citation.text, 120), style="bold")
    authors = citation.citation.authors.replace(" and ", ", ")
    details = (authors, citation.citation.venue, citation.citation.year)
    about.append("  " + ". ".join(filter(None, details)), style="not bold")
    head = Table.grid(padding=(0, 2, 0, 0))
    head.add_column(justify="right", min_width=3)
    head.add_column(overflow="fold")
    head.add_row(str(citation.number), about)
    held = reference.held
    here = f"in the workspace as {held[:SHORT_ID]} {titles.get(held, '')}" if held else "not in the workspace"
    below = Padding(Text(f"work {citation.group}, {here}", style="dim"), (0, 0, 0, 5))
    return Group(head, below, *_sentences(reference.contexts))


def _citing(citation: PaperCitation) -> Group:
    head = Text(f"  {citation.paper.paper[:SHORT_ID]}  ")
    head.append(citation.paper.title or NO_TITLE, style="bold")
    return Group(head, *_sentences(citation.contexts))


def _sentences(contexts: Sequence[StoredContext]) -> Iterator[Padding]:
    for context in contexts:
        text = Text(f"p. {context.page}: ", style="dim")
        text.append("“" + _around(context) + "”", style="italic")
        yield Padding(text, (0, 0, 0, 5))


def _around(context: StoredContext) -> str:
    """Return the sentence, or the part of a long one around the citation."""
    sentence = context.sentence
    if len(sentence) <= _LONG_SENTENCE:
        return sentence
    start = max(0, context.start - _LONG_SENTENCE // 2)
    return ("…" if start else "") + shorten(sentence[start:], _LONG_SENTENCE)


def _correction(correction: PaperCorrection) -> Text:
    before, after = (" | ".join(texts) or "—" for texts in (correction.before, correction.after))
    return Text(f"  {correction.field}: {before} → {after} ({correction.by})")


def record_to_json(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "kind": record.kind,
        "site": record.site,
        "visit": record.visit,
        "fields": _fields_to_json(record.fields),
    }


def _fields_to_json(fields: Mapping[str, Sequence[Value]]) -> dict[str, list[dict[str, Any]]]:
    return {name: [_value_to_json(value) for value in values] for name, values in fields.items()}


def _value_to_json(value: Value) -> dict[str, Any]:
    source = value.source
    data: dict[str, Any] = {"text": value.text, "confidence": round(value.confidence, 4)}
    if source:
        data |= {"page": source.page, "box": source.box, "start": source.start, "end": source.end}
    return data


def overview_to_json(paper: PaperOverview) -> dict[str, Any]:
    return {
        **record_to_json(paper.record),
        "sources": [
            {"url": source.url, "site": source.site, "visit": source.visit, "path": list(source.path)}
            for source in paper.sources
        ],
        "references": [_reference_to_json(reference) for reference in paper.references],
        "cited_by": [
            {
                "paper": citation.paper.paper,
                "title": citation.paper.title,
                "sentences": _sentences_to_json(citation.contexts),
            }
            for citation in paper.cited_by
        ],
        "same_work_as": list(paper.versions),
        "corrections": [
            {name: getattr(correction, name) for name in ("field", "before", "after", "by", "at")}
            for correction in paper.corrections
        ],
    }


def _reference_to_json(reference: PaperReference) -> dict[str, Any]:
    citation = reference.citation
    return {
        "number": citation.number,
        "label": citation.label,
        "text": citation.citation.text,
        "fields": _fields_to_json(citation.fields),
        "work": citation.group,
        "held": reference.held,
        "sentences": _sentences_to_json(reference.contexts),
    }


def _sentences_to_json(contexts: Sequence[StoredContext]) -> list[dict[str, Any]]:
    return [
        {
            "sentence": context.sentence,
            "start": context.start,
            "end": context.stop,
            "page": context.page,
            "box": context.box,
        }
        for context in contexts
    ]
