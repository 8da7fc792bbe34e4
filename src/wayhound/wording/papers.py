"""Papers and topics in words: what became of files, where values were read, what models learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wayhound.record import Value
from wayhound.wording.quantities import count

if TYPE_CHECKING:
    from wayhound.app.papers.adding import AddedFile
    from wayhound.app.papers.grouping import RegroupReport
    from wayhound.app.papers.training import PaperTrainingReport
    from wayhound.store.document_files import StoredFile


PAPER, DOCUMENT, REFUSED = "paper", "document", "refused"
NO_TITLE = "(no title)"
_NO_ID = "-" * 16
_STATES = {
    "added": "{:,} added",
    "known": "{:,} known before",
    "twin": "{:,} with the same content as another",
    "read again": "{:,} read again",
}


def format_added(file: AddedFile) -> str:
    """Return one line about a file: what was read, or why it is not a paper; empty if it was known before."""
    if file.state == "known":
        return ""
    if file.outcome == PAPER:
        return f"{file.id}  {file.title or NO_TITLE}  [{count(file.references, 'reference')}]"
    if file.outcome == REFUSED:
        return f"{file.id or _NO_ID}  {file.name}: {file.detail}"
    return f"{file.id or _NO_ID}  {file.name}: {format_kind(file.outcome)}. {file.detail}"


def format_unread(file: StoredFile) -> str:
    """Return one line about a file that is not a paper, or could not be read."""
    return f"{file.id}  {file.name}: {format_kind(file.outcome)}. {file.detail}"


def format_kind(outcome: str) -> str:
    """Return `not a paper` for a document, else the reason code in words."""
    return "not a paper" if outcome == DOCUMENT else outcome.replace("_", " ")


def format_same(file: AddedFile, other: str) -> str:
    return f"{file.id}  {file.name}: the same content as {other}."


def format_added_files(files: Sequence[AddedFile]) -> str:
    """Return `4 files: 3 added, 1 with the same content as another; 3 papers.`"""
    if not files:
        return "There is nothing new to read."
    first = {file.id: file for file in reversed(files) if file.id}
    single = [file for file in files if not file.id or first[file.id] is file]
    states = Counter[str](file.state for file in single) + Counter({"twin": len(files) - len(single)})
    parts = [text.format(states[state]) for state, text in _STATES.items() if states[state]]
    outcomes = Counter(file.outcome for file in single)
    kinds = ", ".join(_format_outcome(name, number) for name, number in outcomes.most_common())
    return f"{count(len(files), 'file')}: {', '.join(parts) or 'none added'}; {kinds}."


def _format_outcome(outcome: str, number: int) -> str:
    if outcome == PAPER:
        return count(number, "paper")
    return f"{number:,} {'not opened' if outcome == REFUSED else format_kind(outcome)}"


def papers_and_documents(papers: int, documents: int) -> str:
    """Return `12 papers and 3 other documents`, or the one of them that there is."""
    if papers and documents:
        return f"{count(papers, 'paper')} and {count(documents, 'other document')}"
    return count(documents, "document") if documents else count(papers, "paper")


def format_listed(papers: int, limit: int) -> str:
    """Return how many papers there are, and how many of them are shown."""
    more = f", {limit:,} of them shown" if papers > limit else ""
    return f"{count(papers, 'paper')}{more}." if papers else "There are no papers yet."


def format_other_files(outcomes: Mapping[str, int]) -> str:
    """Return `3 other documents and 2 unread files`, or the one of them that there is; empty if there are none."""
    documents = outcomes.get(DOCUMENT, 0)
    unread = sum(outcomes.values()) - documents - outcomes.get(PAPER, 0)
    parts = ((documents, "other document"), (unread, "unread file"))
    return " and ".join(count(number, noun) for number, noun in parts if number)


def format_place(value: Value) -> str:
    """Return `p. 1 at 72,90`: the page, and the upper left corner of the box, in points."""
    source = value.source
    if source is None:
        return ""
    page = f"p. {source.page}" if source.page else ""
    return f"{page} at {source.box[0]:.0f},{source.box[1]:.0f}" if source.box else page


def format_regrouped(done: RegroupReport) -> str:
    return (
        f"{count(done.citations, 'citation')}: {done.moved:,} moved to another group; "
        f"{count(done.groups_before, 'group')} before, {done.groups_after:,} now."
    )


def format_trained(trained: PaperTrainingReport) -> Iterator[str]:
    """Yield what the models learned from, and what they read right now that they did not before."""
    lessons = [count(number, f"corrected {kind}") for kind, number in trained.lessons.items() if number]
    learned = " and ".join([*trained.trained_on.values(), *lessons])
    yield f"Learned from {learned or 'nothing'} in {trained.seconds:.1f} s."
    if trained.fields:
        before, after, fields = trained.right_before, trained.right_after, trained.fields
        yield f"Corrected fields read right: {before} of {fields} before, {after} of {fields} now."
    if trained.watched:
        yield f"Of {trained.watched} other papers, {trained.unchanged} are read as before."
    for name in trained.not_found:
        yield f"Not learned from: {name}."


def training_summary(history: Mapping[str, Any]) -> str:
    """Return one line about a training, from the history in its model file."""
    rounds = count(len(history["rounds"]) - 1, "round")
    ending = f"converged after {rounds}" if history["converged"] else f"{rounds} of EM"
    return (
        f"{count(history['documents'], 'document')}, {history['coverage']:.0%} of them with a keyword; "
        f"{ending}; {history['nowhere']:,} fit nowhere"
    )


def empty_topics_warning(history: Mapping[str, Any]) -> str:
    """Return a warning about topics that no document has a keyword of, or an empty text."""
    if not history.get("empty"):
        return ""
    return f"No document contains a keyword of: {', '.join(history['empty'])}. These topics stay empty."


def papers_placed(placed: int, papers: int, documents: int) -> str:
    return f"{placed:,} placed under a topic, of {papers_and_documents(papers, documents)}."
