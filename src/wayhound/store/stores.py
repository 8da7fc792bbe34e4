"""All stores over one database connection, each made when it is first used."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from wayhound.store.database import Database
from wayhound.store.document_files import DocumentFileStore
from wayhound.store.forage import ForageStore
from wayhound.store.goal_pages import GoalPageStore
from wayhound.store.goals import ComparedSites, GoalStore
from wayhound.store.jobs import JobStore
from wayhound.store.records import Catalogue, ChangeStore, RecordStore
from wayhound.store.review import ReviewStore
from wayhound.store.submissions import SubmissionStore
from wayhound.store.teaching import TeachingStore
from wayhound.store.trails import TrailStore
from wayhound.store.visits import ClickPaths

if TYPE_CHECKING:  # their imports are slow, and most commands do not need them
    from wayhound.store.citations import CitationStore, ScoreStore
    from wayhound.store.papers import PaperStore
    from wayhound.store.topics import TopicStore


class Stores:
    """The stores of a workspace. They share a connection, and so its transactions and its thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Forages

    @cached_property
    def forage(self) -> ForageStore:
        return ForageStore(self._database)

    @cached_property
    def goals(self) -> GoalStore:
        return GoalStore(self._database)

    @cached_property
    def click_paths(self) -> ClickPaths:
        return ClickPaths(self._database)

    @cached_property
    def comparison(self) -> ComparedSites:
        return ComparedSites(self._database)

    @cached_property
    def jobs(self) -> JobStore:
        return JobStore(self._database)

    # Teaching

    @cached_property
    def trails(self) -> TrailStore:
        return TrailStore(self._database)

    @cached_property
    def teaching(self) -> TeachingStore:
        return TeachingStore(self._database)

    @cached_property
    def review(self) -> ReviewStore:
        return ReviewStore(self._database)

    # Records

    @cached_property
    def records(self) -> RecordStore:
        return RecordStore(self._database)

    @cached_property
    def changes(self) -> ChangeStore:
        return ChangeStore(self._database)

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue(self._database)

    @cached_property
    def goal_pages(self) -> GoalPageStore:
        return GoalPageStore(self._database)

    @cached_property
    def submissions(self) -> SubmissionStore:
        return SubmissionStore(self._database)

    # Papers

    @cached_property
    def documents(self) -> DocumentFileStore:
        return DocumentFileStore(self._database)

    @cached_property
    def papers(self) -> PaperStore:
        from wayhound.store.papers import PaperStore  # noqa: PLC0415

        return PaperStore(self._database)

    @cached_property
    def citations(self) -> CitationStore:
        from wayhound.store.citations import CitationStore  # noqa: PLC0415

        return CitationStore(self._database)

    @cached_property
    def scores(self) -> ScoreStore:
        from wayhound.store.citations import ScoreStore  # noqa: PLC0415

        return ScoreStore(self._database)

    @cached_property
    def topics(self) -> TopicStore:
        from wayhound.store.topics import TopicStore  # noqa: PLC0415

        return TopicStore(self._database)
