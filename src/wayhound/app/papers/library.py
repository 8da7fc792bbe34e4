"""The papers of a workspace: what was read from files is saved, matched and corrected, each in one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from wayhound.app.papers.corrections import (
    KIND,
    FieldPath,
    check_values,
    correct_fields,
    correct_paper,
    correct_reference,
)
from wayhound.app.papers.grouping import CitationGroups, citation_of_paper, citation_of_reference
from wayhound.app.papers.models import WorkspaceModels
from wayhound.app.papers.reading import FileReading
from wayhound.documents.document import Unread
from wayhound.errors import UsageError
from wayhound.papers.paper import Fields, ReadPaper
from wayhound.record import Record, Value
from wayhound.store.document_files import DocumentSource, StoredFile
from wayhound.store.papers import ITSELF, PaperCorrection, StoredCitation, StoredContext
from wayhound.workspace import Workspace

PAPER, DOCUMENT = "paper", "document"
WITHHELD = "withheld"  # the outcome of a file that was removed on request


@dataclass(frozen=True, slots=True)
class CorrectionResult:
    """The record after a correction, and the texts of the field before and after."""

    record: Record
    field: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class PaperLibrary:
    """Reads and changes the papers of one workspace. Several processes may do so at once."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.papers = workspace.stores.papers
        self.files = workspace.stores.documents
        self.models = WorkspaceModels(workspace.models_folder)
        self._groups = CitationGroups(workspace)

    # Finding

    def find(self, name: str) -> Record:
        """Return the paper or document with this id, or whose id begins with it. Raises UsageError."""
        ids = self.files.ids_with_prefix(name) if name else []
        if len(ids) > 1 and name not in ids:
            raise UsageError(f"Several files begin with {name}: {', '.join(ids)}. Type more of the id.")
        record = self.record(name if name in ids else ids[0]) if ids else None
        if record is not None:
            return record
        file = self.files.get(ids[0]) if ids else None
        if file is not None:
            raise UsageError(f"{file.name} ({file.id}) has no record. {file.detail}")
        raise UsageError(f"There is no paper {name!r} in this workspace.", next_step="papers list")

    def record(self, record_id: str) -> Record | None:
        records = self.workspace.stores.records
        return records.get(PAPER, record_id) or records.get(DOCUMENT, record_id)

    def body(self, record_id: str) -> bytes:
        """Return the file as it was added or fetched. Raises UsageError if there is none."""
        file = self.files.get(record_id)
        if file is None:
            raise UsageError(f"There is no file {record_id!r} in this workspace.")
        return self.workspace.archive.read(file.archived).body

    # Saving

    def save(
        self, file: StoredFile, sources: Sequence[DocumentSource], reading: FileReading, read_with: str
    ) -> None:
        """Save what was read from a file in place of what was saved before.

        `read_with` is the digest of the models that read it.
        """
        with self._groups.transaction():
            read_file = _with_outcome(file, reading, read_with)
            if self._is_withheld(file.id):
                detail = "It was removed on request, and is not added again."
                read_file = replace(read_file, outcome=WITHHELD, detail=detail)
            self.files.put(read_file)
            for source in sources:
                self.files.add_source(file.id, source)
            self._delete_other_kinds(file.id, read_file.outcome)
            if isinstance(reading.outcome, ReadPaper) and read_file.outcome != WITHHELD:
                self._save_record(read_file, reading.outcome)

    def add_source(self, document: str, source: DocumentSource) -> None:
        """Note that a saved file was also found elsewhere."""
        if source in self.files.sources(document):
            return
        with self._groups.transaction():
            self.files.add_source(document, source)
            if record := self.record(document):
                self.workspace.stores.records.put(self._with_sources(record))
                self.files.touch(document)

    def _save_record(self, file: StoredFile, read: ReadPaper) -> None:
        """Save record, citations and contexts. What has not changed is not written: readers of changes follow."""
        corrected = correct_paper(read, self.papers.corrections(file.id))
        record = self._with_sources(
            Record(read.kind, file.id, corrected.fields | {"file": (Value(file.name),)})
        )
        has_new_text = self.files.put_pages(file.id, read.pages)
        if has_new_text or record != self.workspace.stores.records.get(record.kind, record.id):
            self.workspace.stores.records.put(record)
        if read.kind == PAPER:
            citations, contexts = (
                list(self._citations(record, corrected)),
                list(_contexts(file.id, corrected)),
            )
            if citations != list(self.papers.citations(file.id)) or contexts != self.papers.contexts(file.id):
                self.papers.put_paper(file.id, citations, contexts)

    def _is_withheld(self, record_id: str) -> bool:
        submissions = self.workspace.stores.submissions
        return any(submissions.is_withheld(kind, record_id) for kind in (PAPER, DOCUMENT))

    def _delete_other_kinds(self, record_id: str, outcome: str) -> None:
        """Delete what was saved when the file counted as another kind."""
        for kind in {PAPER, DOCUMENT} - {outcome}:
            self.workspace.stores.records.delete(kind, record_id)
        if outcome != PAPER:
            for stored in self.papers.citations(record_id):
                self._groups.forget(stored.citation, stored.group, stored.paper)
            self.papers.delete(record_id)

    def _with_sources(self, record: Record) -> Record:
        sources = self.files.sources(record.id)
        urls = tuple(Value(source.url) for source in sources if source.url.startswith(("http:", "https:")))
        first = sources[0] if sources else DocumentSource("")
        fields = {name: values for name, values in record.fields.items() if name != "url"}
        return replace(
            record, fields=fields | ({"url": urls} if urls else {}), site=first.site, visit=first.visit
        )

    def _citations(self, record: Record, read: ReadPaper) -> Iterator[StoredCitation]:
        """Yield the paper itself and its references, each with its group."""
        before = {
            stored.number: (stored.citation, stored.group) for stored in self.papers.citations(record.id)
        }
        for number in before.keys() - range(len(read.references) + 1):
            self._groups.forget(*before[number], record.id)
        own = citation_of_paper(record)
        yield StoredCitation(record.id, ITSELF, self._groups.settle(own, record.id, before.get(ITSELF)), own)
        for number, reference in enumerate(read.references, start=1):
            citation = citation_of_reference(reference.fields, reference.text)
            group = self._groups.settle(citation, record.id, before.get(number))
            yield StoredCitation(record.id, number, group, citation, reference.label, reference.fields)

    # Correcting

    def decided_kind(self, record_id: str) -> str:
        """Return the kind that a person last decided on, `paper` or `document`; empty if nobody did."""
        corrections = self.papers.corrections(record_id)
        kinds = [correction.after for correction in corrections if correction.field == KIND]
        return kinds[-1][0] if kinds else ""

    def save_kind(self, record: Record, kind: str, by: str) -> None:
        """Save a person's decision on the kind of a file, for every later reading."""
        with self._groups.transaction():
            self.papers.put_correction(
                PaperCorrection(record.id, KIND, (record.kind,), (kind,), time.time(), by)
            )
            self.files.touch(record.id)

    def correct(self, name: str, field: str, values: Iterable[str], by: str = "operator") -> CorrectionResult:
        """Replace a field of a paper, or of a reference (`3.title`); without values, remove it.

        The correction also holds for every later reading, and citations are matched again if they changed.
        Raises UsageError for an unknown paper or field.
        """
        path, texts, record = FieldPath.parse(field), check_values(values), self.find(name)
        with self._groups.transaction():
            record = self.record(record.id) or record
            change = self._correct_reference if path.reference else self._correct_own
            before = change(record, path, texts)
            self.papers.put_correction(PaperCorrection(record.id, field, before, texts, time.time(), by))
            self.files.touch(record.id)
        return CorrectionResult(self.record(record.id) or record, field, before, texts)

    def _correct_own(self, record: Record, path: FieldPath, texts: tuple[str, ...]) -> tuple[str, ...]:
        before = _texts(record.fields, path.name)
        record = replace(record, fields=correct_fields(record.fields, {path.name: texts}))
        self.workspace.stores.records.put(record)
        own = next((stored for stored in self.papers.citations(record.id) if stored.number == ITSELF), None)
        if own is not None:
            self._match_again(replace(own, citation=citation_of_paper(record)), own)
        return before

    def _correct_reference(self, record: Record, path: FieldPath, texts: tuple[str, ...]) -> tuple[str, ...]:
        stored = {citation.number: citation for citation in self.papers.citations(record.id)}
        own = stored.get(path.reference)
        if own is None:
            raise UsageError(f"{record.id} has {len(stored) - 1} references, and no number {path.reference}.")
        fields = correct_reference(own.fields, {path.name: texts})
        citation = citation_of_reference(fields, own.citation.text)
        self._match_again(replace(own, citation=citation, fields=fields), own)
        self.workspace.stores.records.put(record)  # so that the change feed has it
        return _texts(own.fields, path.name)

    def _match_again(self, new: StoredCitation, old: StoredCitation) -> None:
        group = self._groups.settle(new.citation, new.paper, (old.citation, old.group))
        self.papers.replace_citation(replace(new, group=group))


def _with_outcome(file: StoredFile, reading: FileReading, models: str) -> StoredFile:
    outcome = reading.outcome
    name: str = outcome.reason if isinstance(outcome, Unread) else outcome.kind
    detail = outcome.detail if isinstance(outcome, Unread) else outcome.reason
    return replace(
        file,
        outcome=name,
        detail=detail,
        kind=reading.kind,
        page_count=reading.page_count,
        read_with=models,
        read_at=time.time(),
    )


def _contexts(paper: str, read: ReadPaper) -> Iterator[StoredContext]:
    for context in read.contexts:
        yield StoredContext(
            paper,
            context.reference + 1,
            context.sentence,
            start=context.start,
            stop=context.end,
            page=context.page,
            box=context.box,
        )


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(value.text for value in fields.get(name, ()))
