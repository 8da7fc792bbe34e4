"""What happens when the operator agrees to what a visitor sent in, or does not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from wayhound.app.papers.corrections import KIND
from wayhound.app.papers.works import CITED_ONLY
from wayhound.errors import UsageError
from wayhound.record import Record, Value
from wayhound.store.papers import ITSELF, PaperStore
from wayhound.store.submissions import Submission, SubmissionStore
from wayhound.workspace import Workspace

SEEDS_NAME = "submitted.txt"
"""The file of a workspace that approved sites and papers are added to, a URL a line, ready to forage."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, and in a sentence what came of it."""

    submission: Submission
    sentence: str


def approve(workspace: Workspace, number: int, reply: str, now: float) -> Decided:
    """Do what was asked for. What cannot be done is told, and then it waits on."""
    store = workspace.stores.submissions
    waiting = store.get(number)
    if waiting.state != "waiting":
        raise UsageError(f"Submission {number} has been {waiting.state} already.")
    match waiting.kind:
        case "correction":
            sentence = _correct(workspace, waiting)
        case "removal":
            sentence = _remove(workspace, store, waiting)
        case _:
            sentence = _add_seed(workspace.folder / SEEDS_NAME, waiting.url)
    return Decided(store.decide(number, "approved", reply, now), sentence)


def reject(workspace: Workspace, number: int, reply: str, now: float) -> Decided:
    store = workspace.stores.submissions
    return Decided(store.decide(number, "rejected", reply, now), "Nothing was changed.")


def _add_seed(path: Path, url: str) -> str:
    known = path.read_text("utf-8").splitlines() if path.exists() else []
    if url not in known:
        path.write_text("".join(f"{line}\n" for line in (*known, url)), "utf-8")
    return f"{url} is in {path}. Next: wayhound forage {path}"


def _correct(workspace: Workspace, asked: Submission) -> str:
    record = workspace.stores.records.get(asked.record_kind, asked.record_id)
    if record is None:
        raise UsageError(f"The record {asked.record_id} is no longer there. Reject it.")
    if record.kind in {"paper", "document"}:
        from wayhound.app.papers.adding import judge  # noqa: PLC0415 - loads the models of papers
        from wayhound.app.papers.library import PaperLibrary, correct  # noqa: PLC0415

        if asked.field == KIND:
            judge(PaperLibrary(workspace), record.id, " ".join(asked.texts), by=asked.contact or "a visitor")
            return f"{record.id} is a {' '.join(asked.texts)} from now on."
        correct(workspace, record.id, asked.field, asked.texts, by=asked.contact or "a visitor")
    else:
        told = tuple(Value(text) for text in asked.texts)
        workspace.stores.records.save([replace(record, fields=record.fields | {asked.field: told})])
    return f"{asked.field} of {record.id} is now: {', '.join(asked.texts) or '(nothing)'}"


def _remove(workspace: Workspace, store: SubmissionStore, asked: Submission) -> str:
    found = [*_meant(workspace, asked)]
    papers = workspace.stores.papers
    for record in found:
        store.withhold(record.kind, record.id, asked.id)
        if record.kind == "paper":
            _withhold_as_cited(papers, store, record.id, asked.id)
            papers.save_paper(record.id, ())
    taken = "1 record was" if len(found) == 1 else f"{len(found)} records were"
    return f"{taken} taken out, and will not come back."


def _withhold_as_cited(papers: PaperStore, store: SubmissionStore, paper: str, submission: int) -> None:
    """What was withdrawn as a paper must not come back as a work that others cite."""
    for each in papers.citations(paper):
        if each.number == ITSELF:
            store.withhold(CITED_ONLY, str(each.group), submission)


def _meant(workspace: Workspace, asked: Submission) -> Iterable[Record]:
    """The record itself, or those that were read at an address or on the site that begins there."""
    if asked.record_id:
        record = workspace.stores.records.get(asked.record_kind, asked.record_id)
        return [record] if record else []
    return [record for record in workspace.stores.records.iterate() if _is_at(record, asked.url)]


def _is_at(record: Record, url: str) -> bool:
    return record.site == url or any(value.text == url for value in record.fields.get("url", ()))
