"""The papers of a workspace: what was read of them, kept, matched and corrected, each in one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from wayhound.app.papers.corrections import (
    KIND,
    FieldPath,
    checked_values,
    corrected_fields,
    corrected_paper,
    corrected_reference,
)
from wayhound.app.papers.grouping import CitationGroups, citation_of_paper, citation_of_reference
from wayhound.app.papers.models import ModelPlace
from wayhound.app.papers.reading import Reading
from wayhound.archive.reader import ArchiveReader
from wayhound.documents.document import Unread
from wayhound.errors import UsageError
from wayhound.papers.paper import Fields, ReadPaper
from wayhound.record import Record, Value
from wayhound.store.document_files import Source, StoredFile
from wayhound.store.papers import ITSELF, Correction, StoredCitation, StoredContext
from wayhound.workspace import Workspace

PAPER, DOCUMENT = "paper", "document"
WITHHELD = "withheld"  # the outcome of a file that somebody had a right to have withdrawn


@dataclass(frozen=True, slots=True)
class Corrected:
    """What a correction did: the record as it is now, and the texts of the field before and after."""

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
        self.models = ModelPlace(workspace.models_folder)
        self._groups: CitationGroups | None = None
        self._groups_are_of = -1  # the change up to which `_groups` knows everything
        self._began_at = -1  # the last change before the transaction that is open

    @cached_property
    def archive(self) -> ArchiveReader:
        return self.workspace.archive

    # What is there

    def find(self, name: str) -> Record:
        """The paper or document of an id, or of the beginning of one; a sentence where there is none."""
        ids = self.files.beginning_with(name) if name else []
        if len(ids) > 1 and name not in ids:
            raise UsageError(f"Several files begin with {name}: {', '.join(ids)}. Type more of the id.")
        record = self.record(name if name in ids else ids[0]) if ids else None
        if record is not None:
            return record
        file = self.files.get(ids[0]) if ids else None
        if file is not None:
            raise UsageError(f"Of {file.name} ({file.id}) there is no record. {file.detail}")
        raise UsageError(f"There is no paper {name!r} in this workspace. See: wayhound papers list")

    def record(self, record_id: str) -> Record | None:
        records = self.workspace.stores.records
        return records.get(PAPER, record_id) or records.get(DOCUMENT, record_id)

    def body(self, record_id: str) -> bytes:
        """The file itself, as it was given or fetched."""
        file = self.files.get(record_id)
        if file is None:
            raise UsageError(f"There is no file {record_id!r} in this workspace.")
        return self.archive.read(file.archived).body

    # Keeping

    def keep(self, file: StoredFile, sources: Sequence[Source], reading: Reading, read_with: str) -> None:
        """Save what came of a file in place of what is known of it; all of it or nothing.

        `read_with` is the digest of the models that read it.
        """
        with self._writing():
            told = _told(file, reading, read_with)
            if self._is_withheld(file.id):
                told = replace(told, outcome=WITHHELD, detail="It was withdrawn, and will not come back.")
            self.files.put(told)
            for source in sources:
                self.files.add_source(file.id, source)
            self._forget_other_kind(file.id, told.outcome)
            if isinstance(reading.outcome, ReadPaper) and told.outcome != WITHHELD:
                self._put(told, reading.outcome)

    def keep_source(self, document: str, source: Source) -> None:
        """A file that is known was found in another place."""
        if source in self.files.sources(document):
            return
        with self._writing():
            self.files.add_source(document, source)
            if record := self.record(document):
                self.workspace.stores.records.put(self._with_sources(record))
                self.files.touch(document)

    def _put(self, file: StoredFile, read: ReadPaper) -> None:
        fixed = corrected_paper(read, self.papers.corrections(file.id))
        about = fixed.fields | {"file": (Value(file.name),)}
        record = self._with_sources(Record(read.kind, file.id, about))
        if record != self.workspace.stores.records.get(record.kind, record.id):
            self.workspace.stores.records.put(record)
        if read.kind == PAPER:
            self._put_citations(
                file.id, list(self._citations(record, fixed)), list(_contexts(file.id, fixed))
            )

    def _is_withheld(self, record_id: str) -> bool:
        submissions = self.workspace.stores.submissions
        return any(submissions.is_withheld(kind, record_id) for kind in (PAPER, DOCUMENT))

    def _put_citations(
        self, paper: str, citations: list[StoredCitation], contexts: list[StoredContext]
    ) -> None:
        """What has not changed is left alone, so that nobody who follows changes is troubled."""
        if citations != list(self.papers.citations(paper)) or contexts != self.papers.contexts(paper):
            self.papers.put_paper(paper, citations, contexts)

    def _forget_other_kind(self, record_id: str, outcome: str) -> None:
        """What was a paper and is one no longer, or was none and is one now."""
        for kind in {PAPER, DOCUMENT} - {outcome}:
            self.workspace.stores.records.delete(kind, record_id)
        if outcome != PAPER:
            for each in self.papers.citations(record_id):
                self._matcher.forget(each.citation, each.group)
            self.papers.forget(record_id)

    def _with_sources(self, record: Record) -> Record:
        sources = self.files.sources(record.id)
        urls = tuple(Value(each.url) for each in sources if each.url.startswith(("http:", "https:")))
        first = sources[0] if sources else Source("")
        fields = {name: values for name, values in record.fields.items() if name != "url"}
        return replace(
            record, fields=fields | ({"url": urls} if urls else {}), site=first.site, visit=first.visit
        )

    # Matching

    def _citations(self, record: Record, read: ReadPaper) -> Iterator[StoredCitation]:
        """The paper itself and its references, each in its group."""
        matcher = self._matcher
        before = {each.number: (each.citation, each.group) for each in self.papers.citations(record.id)}
        for gone in before.keys() - range(len(read.references) + 1):
            matcher.forget(*before[gone])
        own = citation_of_paper(record)
        yield StoredCitation(record.id, ITSELF, matcher.settle(own, before.get(ITSELF)), own)
        for number, each in enumerate(read.references, start=1):
            cited = citation_of_reference(each.fields, each.text)
            group = matcher.settle(cited, before.get(number))
            yield StoredCitation(record.id, number, group, cited, each.label, each.fields)

    @property
    def _matcher(self) -> CitationGroups:
        """The groups as they were when the transaction began. Made when first needed: of 20,000 citations
        that takes some four seconds, and most corrections are of fields that are not matched by.
        """
        if self._groups is None or self._groups_are_of != self._began_at:
            self._groups = CitationGroups()
            self._groups.restore((each.citation, each.group) for each in self.papers.citations())
            self._groups_are_of = self._began_at
        return self._groups

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction in which the groups are those of the store, whoever has written to it before.

        Groups are numbered by the process that finds them, so two processes must not do so at one time, nor
        either of them without knowing what the other has done.
        """
        try:
            with self.workspace.database.transaction():
                self._began_at = self.files.last_change()
                yield
                ended_at = self.files.last_change()
        except BaseException:
            self._groups = None
            raise
        if self._groups_are_of == self._began_at:
            self._groups_are_of = ended_at

    # Correcting

    def said_kind(self, record_id: str) -> str:
        """What a person last said that a file is, `paper` or `document`; empty where nobody did."""
        said = [each.after for each in self.papers.corrections(record_id) if each.field == KIND]
        return said[-1][0] if said else ""

    def note_kind(self, record: Record, kind: str, by: str) -> None:
        """Keep what a person says that a file is, for all readings to come."""
        with self._writing():
            self.papers.put_correction(Correction(record.id, KIND, (record.kind,), (kind,), time.time(), by))
            self.files.touch(record.id)

    def correct(self, name: str, field: str, values: Iterable[str], by: str = "operator") -> Corrected:
        """Say what a field of a paper, or of a reference (`3.title`), is; no values: that there is none.

        It holds for all readings to come, and citations are matched anew where it matters.
        """
        path, texts, record = FieldPath.read(field), checked_values(values), self.find(name)
        with self._writing():
            record = self.record(record.id) or record
            change = self._correct_reference if path.reference else self._correct_own
            before = change(record, path, texts)
            self.papers.put_correction(Correction(record.id, field, before, texts, time.time(), by))
            self.files.touch(record.id)
        return Corrected(self.record(record.id) or record, field, before, texts)

    def _correct_own(self, record: Record, path: FieldPath, texts: tuple[str, ...]) -> tuple[str, ...]:
        before = _texts(record.fields, path.name)
        record = replace(record, fields=corrected_fields(record.fields, {path.name: texts}))
        self.workspace.stores.records.put(record)
        own = next((each for each in self.papers.citations(record.id) if each.number == ITSELF), None)
        if own is not None:
            self._match_again(replace(own, citation=citation_of_paper(record)), own)
        return before

    def _correct_reference(self, record: Record, path: FieldPath, texts: tuple[str, ...]) -> tuple[str, ...]:
        known = {each.number: each for each in self.papers.citations(record.id)}
        own = known.get(path.reference)
        if own is None:
            raise UsageError(f"{record.id} has {len(known) - 1} references, and no number {path.reference}.")
        fields = corrected_reference(own.fields, {path.name: texts})
        cited = citation_of_reference(fields, own.citation.text)
        self._match_again(replace(own, citation=cited, fields=fields), own)
        self.workspace.stores.records.put(record)  # so that whoever follows records sees the change
        return _texts(own.fields, path.name)

    def _match_again(self, new: StoredCitation, old: StoredCitation) -> None:
        group = self._matcher.settle(new.citation, (old.citation, old.group))
        self.papers.replace_citation(replace(new, group=group))


def correct(
    workspace: Workspace, paper_id: str, field: str, values: Iterable[str], by: str = "operator"
) -> Corrected:
    """The one call for corrections, whoever makes them and wherever."""
    return PaperLibrary(workspace).correct(paper_id, field, values, by)


def _told(file: StoredFile, reading: Reading, models: str) -> StoredFile:
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
    for each in read.contexts:
        yield StoredContext(
            paper, each.reference + 1, each.sentence, each.start, each.end, each.page, each.box
        )


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(value.text for value in fields.get(name, ()))
