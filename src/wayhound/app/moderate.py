"""Decide on submissions of visitors: approve or reject them, and carry out what was approved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from wayhound.app.goal_records import KIND as PAGE
from wayhound.app.goal_records import sync_goals
from wayhound.app.papers.corrections import KIND
from wayhound.app.papers.works import CITED_ONLY
from wayhound.errors import UsageError
from wayhound.record import Record, Value
from wayhound.store.papers import ITSELF, PaperStore
from wayhound.store.submissions import Submission, SubmissionStore
from wayhound.workspace import Workspace

SITE_LIST_NAME = "submitted.txt"
"""The file of a workspace that approved sites and papers are added to, one URL a line, ready to forage."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A decided submission; how many records were removed, or to which file its URL was added."""

    submission: Submission
    removed: int = 0
    site_list: Path | None = None


def approve(workspace: Workspace, number: int, reply: str, now: float) -> Decision:
    """Carry out a submission. Raises UsageError if that is not possible; the submission then stays undecided."""
    store = workspace.stores.submissions
    submission = store.get(number)
    if submission.state != "waiting":
        raise UsageError(f"Submission {number} has been {submission.state} already.")
    removed, site_list = 0, None
    match submission.kind:
        case "correction":
            _correct(workspace, submission)
        case "removal":
            removed = _remove(workspace, store, submission)
        case _:
            site_list = workspace.folder / SITE_LIST_NAME
            _add_line(site_list, submission.url)
    return Decision(store.decide(number, "approved", reply, now), removed, site_list)


def reject(workspace: Workspace, number: int, reply: str, now: float) -> Decision:
    store = workspace.stores.submissions
    return Decision(store.decide(number, "rejected", reply, now))


def _add_line(path: Path, url: str) -> None:
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    if url not in lines:
        path.write_text("".join(f"{line}\n" for line in (*lines, url)), "utf-8")


def _correct(workspace: Workspace, submission: Submission) -> None:
    record = workspace.stores.records.get(submission.record_kind, submission.record_id)
    if record is None:
        raise UsageError(f"The record {submission.record_id} is no longer there. Reject the submission.")
    if record.kind in {"paper", "document"}:
        _correct_paper(workspace, record, submission)
        return
    values = tuple(Value(text) for text in submission.texts)
    workspace.stores.records.save([replace(record, fields=record.fields | {submission.field: values})])


def _correct_paper(workspace: Workspace, record: Record, submission: Submission) -> None:
    from wayhound.app.papers.adding import decide_kind  # noqa: PLC0415 - loads the models of papers
    from wayhound.app.papers.library import PaperLibrary  # noqa: PLC0415

    author = submission.contact or "a visitor"
    if submission.field == KIND:
        decide_kind(PaperLibrary(workspace), record.id, " ".join(submission.texts), by=author)
        return
    PaperLibrary(workspace).correct(record.id, submission.field, submission.texts, by=author)


def _remove(workspace: Workspace, store: SubmissionStore, submission: Submission) -> int:
    """Withhold the records that a submission means, and return how many there were."""
    records = list(_records_meant(workspace, submission))
    papers = workspace.stores.papers
    for record in records:
        store.withhold(record.kind, record.id, submission.id)
        if record.kind == "paper":
            _withhold_as_cited(papers, store, record.id, submission.id)
            papers.save_paper(record.id, ())
    if any(record.kind == PAGE for record in records):
        sync_goals(workspace)  # records that extractors made from a page go with it
    return len(records)


def _withhold_as_cited(papers: PaperStore, store: SubmissionStore, paper: str, submission: int) -> None:
    """Keep a withdrawn paper from coming back as a work that others cite."""
    for citation in papers.citations(paper):
        if citation.number == ITSELF:
            store.withhold(CITED_ONLY, str(citation.group), submission)


def _records_meant(workspace: Workspace, submission: Submission) -> Iterable[Record]:
    """Return the record of a submission, or all that were found at its address or on the site that starts there."""
    if submission.record_id:
        record = workspace.stores.records.get(submission.record_kind, submission.record_id)
        return [record] if record else []
    return [record for record in workspace.stores.records.iterate() if _is_at(record, submission.url)]


def _is_at(record: Record, url: str) -> bool:
    return record.site == url or any(value.text == url for value in record.fields.get("url", ()))
