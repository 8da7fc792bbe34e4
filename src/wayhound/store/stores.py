"""All stores over one database connection, each imported and made when it is first used.

A command uses two or three of them; importing all would double the time to start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from wayhound.store.database import Database

if TYPE_CHECKING:
    from wayhound.store.chains import ChainStore
    from wayhound.store.citations import CitationStore, ScoreStore
    from wayhound.store.document_files import DocumentFileStore
    from wayhound.store.facts import FactStore
    from wayhound.store.forage import ForageStore
    from wayhound.store.goal_pages import GoalPageStore
    from wayhound.store.goals import GoalStore
    from wayhound.store.jobs import JobStore
    from wayhound.store.papers import PaperStore
    from wayhound.store.records import Catalogue, ChangeStore, RecordStore
    from wayhound.store.review import ReviewStore
    from wayhound.store.site_notes import SiteNoteStore
    from wayhound.store.submissions import SubmissionStore
    from wayhound.store.teaching import TeachingStore
    from wayhound.store.topics import TopicStore
    from wayhound.store.trails import TrailStore
    from wayhound.store.visits import ClickPaths


@dataclass(eq=False)
class Stores:
    """The stores of a workspace. They share a connection, and so its transactions and its thread."""

    _database: Database

    # Forages

    @cached_property
    def forage(self) -> ForageStore:
        if self._database.is_server:
            from wayhound.store.postgres import PostgresDatabase
            from wayhound.store.server_forage import ServerForageStore

            assert isinstance(self._database, PostgresDatabase)
            return ServerForageStore(self._database)
        from wayhound.store.forage import ForageStore

        return ForageStore(self._database)

    @cached_property
    def goals(self) -> GoalStore:
        from wayhound.store.goals import GoalStore

        return GoalStore(self._database)

    @cached_property
    def click_paths(self) -> ClickPaths:
        from wayhound.store.visits import ClickPaths

        return ClickPaths(self._database)

    @cached_property
    def site_notes(self) -> SiteNoteStore:
        from wayhound.store.site_notes import SiteNoteStore

        return SiteNoteStore(self._database)

    @cached_property
    def jobs(self) -> JobStore:
        from wayhound.store.jobs import JobStore

        return JobStore(self._database)

    # Teaching

    @cached_property
    def trails(self) -> TrailStore:
        from wayhound.store.trails import TrailStore

        return TrailStore(self._database)

    @cached_property
    def teaching(self) -> TeachingStore:
        from wayhound.store.teaching import TeachingStore

        return TeachingStore(self._database)

    @cached_property
    def review(self) -> ReviewStore:
        from wayhound.store.review import ReviewStore

        return ReviewStore(self._database)

    # Records

    @cached_property
    def records(self) -> RecordStore:
        from wayhound.store.records import RecordStore

        return RecordStore(self._database)

    @cached_property
    def changes(self) -> ChangeStore:
        from wayhound.store.records import ChangeStore

        return ChangeStore(self._database)

    @cached_property
    def catalogue(self) -> Catalogue:
        from wayhound.store.records import Catalogue

        return Catalogue(self._database)

    @cached_property
    def goal_pages(self) -> GoalPageStore:
        from wayhound.store.goal_pages import GoalPageStore

        return GoalPageStore(self._database)

    @cached_property
    def facts(self) -> FactStore:
        from wayhound.store.facts import FactStore

        return FactStore(self._database)

    @cached_property
    def submissions(self) -> SubmissionStore:
        from wayhound.store.submissions import SubmissionStore

        return SubmissionStore(self._database)

    # Papers

    @cached_property
    def documents(self) -> DocumentFileStore:
        from wayhound.store.document_files import DocumentFileStore

        return DocumentFileStore(self._database)

    @cached_property
    def papers(self) -> PaperStore:
        from wayhound.store.papers import PaperStore

        return PaperStore(self._database)

    @cached_property
    def citations(self) -> CitationStore:
        from wayhound.store.citations import CitationStore

        return CitationStore(self._database)

    @cached_property
    def scores(self) -> ScoreStore:
        from wayhound.store.citations import ScoreStore

        return ScoreStore(self._database)

    @cached_property
    def topics(self) -> TopicStore:
        from wayhound.store.topics import TopicStore

        return TopicStore(self._database)

    @cached_property
    def chains(self) -> ChainStore:
        from wayhound.store.chains import ChainStore

        return ChainStore(self._database)
