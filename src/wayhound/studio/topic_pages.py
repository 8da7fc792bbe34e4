"""Topics: choose or edit the tree, train, see where documents are, accept suggestions, correct a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.topics import TopicReport, Topics
from wayhound.errors import ModelError, UsageError
from wayhound.store.jobs import Job
from wayhound.studio.studio import Studio, StudioForm, read_form, to
from wayhound.studio.tables import Paging, requested_page
from wayhound.topics.model import NOWHERE, TopicPlacement
from wayhound.topics.suggest import TopicSuggestions
from wayhound.topics.tree import shipped_trees
from wayhound.web.pages import BadRequest
from wayhound.wording.papers import empty_topics_warning, papers_and_documents, training_summary
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

Result = TypeVar("Result")

JOB = "topics"
DOCUMENTS_SHOWN = 50
_NO_REPORT = TopicReport((), 0, 0, {})


@dataclass(frozen=True, slots=True)
class TopicCorrection:
    """A person's correction of a document's topic; `applied` once a training has learned it."""

    document: str
    title: str
    topic: str
    applied: bool


@dataclass(frozen=True, slots=True)
class TopicsView:
    """`problem` says what is wrong with the tree file or the model; then there is no report."""

    job: Job | None
    papers: str  # how many papers and documents there are, in words; empty if there are none
    shipped: tuple[str, ...]
    tree_text: str
    problem: str
    report: TopicReport
    summary: str
    warning: str
    is_current: bool  # the model was trained on this tree and knows all corrections
    suggestions: TopicSuggestions
    corrections: tuple[TopicCorrection, ...]

    @property
    def most(self) -> int:
        return max((topic.total for topic in self.report.topics), default=0) or 1


@dataclass(frozen=True, slots=True)
class DocumentsView:
    topic: str
    paging: Paging
    documents: list[tuple[TopicPlacement, str]]
    corrections: dict[str, str]  # topics chosen by a person, by document
    names: tuple[str, ...]


def topics_view(workspace: Workspace) -> TopicsView:
    topics = Topics(workspace)
    job = workspace.stores.jobs.last(JOB)  # first: what a finished job has written is then complete
    report, suggestions, problem = _NO_REPORT, TopicSuggestions(), ""
    is_current = False
    corrections = tuple(_corrections(topics))
    try:
        if topics.tree_file.exists:
            report, suggestions = topics.report(), topics.suggestions()
            is_current = topics.is_trained and not topics.tree_has_changed()
    except (UsageError, ModelError) as error:
        problem = str(error)
    return TopicsView(
        job=job,
        papers=_papers(workspace.stores.catalogue.counts()),
        shipped=tuple(shipped_trees()),
        tree_text=topics.tree_file.text() if topics.tree_file.exists else "",
        problem=problem,
        report=report,
        summary=training_summary(report.history) if report.history else "",
        warning=empty_topics_warning(report.history),
        is_current=is_current and all(correction.applied for correction in corrections),
        suggestions=suggestions,
        corrections=corrections,
    )


def _papers(counts: Mapping[str, int]) -> str:
    papers, documents = counts.get("paper", 0), counts.get("document", 0)
    return papers_and_documents(papers, documents) if papers or documents else ""


def _corrections(topics: Topics) -> list[TopicCorrection]:
    corrections = []
    for document, path in topics.store.corrections().items():
        placed = topics.store.get(document)
        applied = placed is not None and placed.corrected and placed.topic == path
        title = topics.store.title(document) or document
        corrections.append(TopicCorrection(document, title, " › ".join(path), applied))
    return corrections


def documents_view(workspace: Workspace, topic: str, page: int) -> DocumentsView:
    topics = Topics(workspace)
    tree = topics.tree_file.tree()
    report = topics.report()
    totals = {row.topic.title: row.total for row in report.topics} | {
        "/": report.documents,
        NOWHERE: report.nowhere,
    }
    total = totals[topic if topic in totals else tree.find(topic).title]
    paging = Paging.of(page, total, DOCUMENTS_SHOWN)
    documents = topics.documents_under(
        topic, DOCUMENTS_SHOWN, offset=paging.first, least_confident_first=True
    )
    corrections = {name: " › ".join(path) for name, path in topics.store.corrections().items()}
    return DocumentsView(topic, paging, documents, corrections, tuple(node.title for node in tree.topics))


def topic_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/topics", response_class=HTMLResponse)
    def topics(request: Request) -> Response:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            view = topics_view(workspace)
        return studio.html(request, "topics.html", section="/topics", view=view)

    @router.get("/topics/documents", response_class=HTMLResponse)
    def documents(request: Request) -> Response:
        topic = request.query_params.get("topic", "/")
        with studio.workspace() as workspace:
            view = documents_view(workspace, topic, requested_page(request))
        return studio.html(request, "topic_documents.html", section="/topics", view=view)

    @router.post("/topics/train")
    async def train(request: Request) -> Response:
        await read_form(studio, request)
        await run_in_threadpool(_with_topics(studio, lambda topics: _start_training(studio, topics)))
        return to("/topics")

    return router


def topic_changes(studio: Studio) -> APIRouter:
    """Return the routes that change the tree and the corrections."""
    router = APIRouter()

    @router.post("/topics/tree")
    async def write_tree(request: Request) -> Response:
        form = await read_form(studio, request)
        text = _tree_text(form)
        view, notice = await run_in_threadpool(_with_topics(studio, lambda topics: _write_tree(topics, text)))
        if view is None:
            return to("/topics", notice)
        return studio.html(
            request, "topics.html", section="/topics", view=view, complaint=notice, editing=True, status=400
        )

    @router.post("/topics/accept")
    async def accept(request: Request) -> Response:
        form = await read_form(studio, request)
        return to(
            "/topics", await run_in_threadpool(_with_topics(studio, lambda topics: _accept(topics, form)))
        )

    @router.post("/topics/correct")
    async def correct(request: Request) -> Response:
        form = await read_form(studio, request)
        notice = await run_in_threadpool(_with_topics(studio, lambda topics: _correct(topics, form)))
        if form.text("list_page"):
            return to("/topics/documents", notice, topic=form.text("list"), page=form.text("list_page"))
        return to("/topics", notice)

    return router


def _tree_text(form: StudioForm) -> str:
    """Return the tree that a form chose by name, or its typed text. Raises BadRequest for an unknown name."""
    name = form.text("shipped")
    if name and name not in shipped_trees():
        raise BadRequest("There is no such tree.")
    return shipped_trees()[name] if name else form.text("text").replace("\r\n", "\n") + "\n"


def _write_tree(topics: Topics, text: str) -> tuple[TopicsView | None, str]:
    """Save a tree and return a notice; if it has a mistake, return the page again with what was typed."""
    try:
        tree = topics.tree_file.write(text)
    except UsageError as error:
        return replace(topics_view(topics.workspace), tree_text=text), f"Nothing was saved. {error}"
    return None, f"Saved a tree with {count(len(tree.leaves), 'leaf', 'leaves')}."


def _accept(topics: Topics, form: StudioForm) -> str:
    """Write a suggestion into the tree and return a notice."""
    topic, name, tree = form.text("topic"), form.text("name"), topics.tree_file
    keywords = [word.strip() for word in form.text("keywords").split(",") if word.strip()]
    if not keywords:
        raise BadRequest("Give at least one keyword.")
    match form.text("kind"):
        case "add":
            tree.add_keywords(topic, keywords)
            return f"{topic} has the keyword {', '.join(keywords)} now."
        case "drop":
            tree.drop_keywords(topic, keywords)
            return f"{topic} no longer has the keyword {', '.join(keywords)}."
        case "new":
            tree.add_topic(topic, name, keywords)
            return f"The topic {name} was added."
        case _:
            raise BadRequest("There is no such suggestion.")


def _correct(topics: Topics, form: StudioForm) -> str:
    """Record or remove a correction and return a notice."""
    document, topic = form.text("document"), form.text("topic")
    if form.text("undo"):
        topics.undo_correction(document)
        return "The correction was removed. The next training places the document again."
    topics.correct(document, topic)
    return f"Corrected to {topics.tree_file.tree().find(topic).title}. The next training learns from it."


def _with_topics(studio: Studio, act: Callable[[Topics], Result]) -> Callable[[], Result]:
    """Return a function for a worker thread that opens the workspace and acts on its topics."""

    def opened() -> Result:
        with studio.workspace() as workspace:
            return act(Topics(workspace))

    return opened


def _start_training(studio: Studio, topics: Topics) -> None:
    topics.tree_file.tree()  # a mistake in the tree is reported here, not by the job
    studio.background.start(topics.workspace, JOB, {})
