"""Review a run: ask a person about pages, turn answers into trails, train again, and show what changes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wayhound.app import OnProgress
from wayhound.app.train.models import load_forage_model, report_of, scorer_of
from wayhound.app.train.training import train
from wayhound.app.visited_site import VisitedSite, read_path, read_site, read_sites
from wayhound.errors import NotInWorkspace, TeachingError, UsageError
from wayhound.forage.scorer import NO_ANSWERS, RecognisingScorer, Scorer
from wayhound.paths.questions import Candidate, Question, QuestionPicker, StopAsking, bootstrap_trails
from wayhound.paths.spiders import (
    SPIDERS,
    Material,
    Settings,
    TrainedModel,
    settings_from_json,
    train_strategy,
)
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import ended_trails
from wayhound.store.review import KeptCandidate, ReviewAnswer, SiteChange
from wayhound.store.site_notes import WaitingQuestion
from wayhound.trail import FAIL, GOAL, Trail
from wayhound.workspace import Workspace

SOURCE = "review"
MOST_OF_A_LIST = 5  # trails that the rejection of a list makes
UNASKED = -1.0  # stored in place of a question's value if the person answered without being asked


@dataclass(frozen=True, slots=True)
class ReviewQuestion:
    """A question with the visit that it is about."""

    candidate: KeptCandidate
    question: Question


class Review:
    """The questions and answers of one run."""

    def __init__(self, workspace: Workspace, run_id: int) -> None:
        self.run_id = run_id
        self._workspace = workspace
        self._store = workspace.stores.review
        self._trails = workspace.stores.trails

    # Questions

    def next_question(self) -> ReviewQuestion | StopAsking | None:
        """Return the next question, or why to stop asking; None if no questions have been prepared."""
        candidates = self._store.candidates(self.run_id)
        if not candidates:
            return None
        judged = {trail.end_url for trail in self._trails.summaries()}
        by_key = {_key(page.site, page.number): page for page in candidates if page.url not in judged}
        picker = self._picker(self._store.answers(self.run_id))
        best = picker.next_question([_candidate(key, page) for key, page in by_key.items()])
        return best if isinstance(best, StopAsking) else ReviewQuestion(by_key[best.candidate.key], best)

    def _picker(self, answers: Iterable[ReviewAnswer]) -> QuestionPicker:
        """Return a picker that knows the saved answers."""
        picker = QuestionPicker()
        for answer in answers:
            candidate = Candidate(
                _key(answer.site, answer.number), answer.site, (answer.chance,), answer.group
            )
            was_goal = answer.answer == GOAL if answer.answer and answer.worth > UNASKED else None
            picker.record_answer(Question(candidate, 1.0, answer.worth), was_goal)
        return picker

    # Answers

    def answer(self, site: str, number: int, label: str, at: float) -> int | None:
        """Save an answer: `Goal`, `Fail`, another label, or an empty one if the person cannot say.

        Return the trail that it made, if any. Raises UsageError if there is no such visit, or if a trail teaches
        the opposite.
        """
        candidate = self._find(site, number)
        value = UNASKED
        if isinstance(asked := self.next_question(), ReviewQuestion) and asked.candidate == candidate:
            value = asked.question.value
        return self._save(candidate, label, value, at)

    def _find(self, site: str, number: int) -> KeptCandidate:
        for candidate in self._store.candidates(self.run_id):
            if (candidate.site, candidate.number) == (site, number):
                return candidate
        visits = self._workspace.stores.forage.visits_of(self.run_id, site)
        visit = next((visit for visit in visits if visit.number == number), None)
        if visit is None:
            raise NotInWorkspace(f"Run {self.run_id} has no visit {number} of {site}.")
        group = f"{visit.parent} {visit.link_region}"
        return KeptCandidate(site, number, visit.url, (visit.goal,), group, 1.0)

    def _save(self, candidate: KeptCandidate, label: str, value: float, at: float) -> int | None:
        trail = self._add_trail(candidate, label, at) if label else None
        self._store.add_answer(
            ReviewAnswer(
                run_id=self.run_id,
                site=candidate.site,
                number=candidate.number,
                url=candidate.url,
                group=candidate.group,
                answer=label,
                chance=sum(candidate.chances) / len(candidate.chances),
                worth=value,
                trail_id=trail,
                at=at,
            )
        )
        return trail

    def _add_trail(self, candidate: KeptCandidate, label: str, at: float) -> int:
        site = read_path(self._workspace, self.run_id, candidate.site, candidate.number)
        if label != GOAL:
            self._check_no_goal(candidate)
        self._delete(self._answers_about(candidate), at)
        return self._trails.add(site.trail(candidate.number, label), at, SOURCE)

    def _check_no_goal(self, candidate: KeptCandidate) -> None:
        """Raise UsageError if another trail ends at this page as a goal: it would outweigh every rejection."""
        own = {answer.trail_id for answer in self._answers_about(candidate)}
        for trail in self._trails.summaries(candidate.site):
            if trail.end_url == candidate.url and trail.ending == GOAL and trail.id not in own:
                raise UsageError(
                    f"Trail {trail.id} teaches that {candidate.url} is a goal: delete or relabel it first."
                )

    def _answers_about(self, candidate: KeptCandidate) -> list[ReviewAnswer]:
        answers = self._store.answers(self.run_id)
        return [
            answer for answer in answers if (answer.site, answer.number) == (candidate.site, candidate.number)
        ]

    # Undo

    def undo(self, at: float) -> list[ReviewAnswer]:
        """Delete the last answer with its trail, or all answers of a list that was rejected at once."""
        answers = self._store.answers(self.run_id)
        return self._delete([answer for answer in answers if answer.at == answers[-1].at], at)

    def undo_for(self, site: str, number: int, at: float) -> list[ReviewAnswer]:
        """Delete the answers about a page, and those of its list if that was rejected at once."""
        answers = self._store.answers(self.run_id)
        times = {answer.at for answer in answers if (answer.site, answer.number) == (site, number)}
        return self._delete([answer for answer in answers if answer.at in times], at)

    def _delete(self, answers: list[ReviewAnswer], at: float) -> list[ReviewAnswer]:
        self._store.delete_answers(answers)
        for trail in self._existing_trails() & {answer.trail_id for answer in answers}:
            self._trails.delete(trail, at)
        return answers

    def _existing_trails(self) -> set[int]:
        return {trail.id for trail in self._trails.summaries()}

    # Rejections

    def reject(self, site: str, number: int, at: float) -> int | None:
        """Reject a goal: the path to it becomes a trail that ends as `Fail`."""
        return self._save(self._find(site, number), FAIL, UNASKED, at)

    def reject_list(self, site: str, number: int, at: float) -> int:
        """Reject the pages behind all links in the same list as the one to this page. Return how many trails
        that made: all members are rejected, or none if a trail teaches the opposite (UsageError)."""
        visited = read_site(self._workspace, self.run_id, site)
        if number not in visited.pages:
            raise UsageError(f"The page of visit {number} of {site} is not in the archive.")
        members = [self._find(site, member) for member in visited.same_list(number)[:MOST_OF_A_LIST]]
        for member in members:
            self._check_no_goal(member)
        for member in members:
            self._save(member, FAIL, UNASKED, at)
        return len(members)

    def rejections(self) -> dict[tuple[str, int], int]:
        """Return, by site and visit of each rejected page, how many pages were rejected at once with it.

        Rejections whose trail was deleted since do not count.
        """
        trails, answers = self._existing_trails(), self._store.answers(self.run_id)
        rejected = [answer for answer in answers if answer.answer == FAIL and answer.trail_id in trails]
        at_once = Counter(answer.at for answer in rejected)
        return {(answer.site, answer.number): at_once[answer.at] for answer in rejected}


def answer_question(workspace: Workspace, question: WaitingQuestion, is_goal: bool | None, at: float) -> None:
    """Save the answer to a question of a forage; None if the person cannot say.

    The path to the page becomes a trail, and the site is recognised anew, also if it was finished. Raises UsageError
    if a trail teaches the opposite; the question then counts as skipped.
    """
    notes = workspace.stores.site_notes
    if is_goal is not None:
        try:
            label = GOAL if is_goal else FAIL
            Review(workspace, question.run).answer(question.site, question.number, label, at)
        except UsageError:
            notes.close(question.run, question.site, question.number, skipped=True)
            raise
    notes.close(question.run, question.site, question.number, skipped=is_goal is None)


def _key(site: str, number: int) -> str:
    return f"{number} {site}"


def _candidate(key: str, page: KeptCandidate) -> Candidate:
    return Candidate(key, page.site, page.chances, page.group, page.stake)


# Preparing questions

COMMITTEE = 3  # models, the one in use included
RETRAIN_AFTER = 5  # answers: fewer change little, and training takes seconds
GOAL_AT = 0.5  # probability at which a forage counts a page as a goal


def new_answers(workspace: Workspace) -> int:
    """Return the number of answers since the last training; the model is due for another at `RETRAIN_AFTER`."""
    return workspace.stores.review.answered_since(workspace.forage_models.last().trained_at)


def retrain(workspace: Workspace, run_id: int, *, at: float, on_progress: OnProgress) -> None:
    """Train the model that was trained last again, with the same settings, then prepare the next questions."""
    card = workspace.forage_models.last()
    report = report_of(workspace, card.name)
    settings = settings_from_json(card.strategy, report.settings)
    source = report.source if card.strategy in SPIDERS else None
    train(
        workspace, card.name, card.strategy, settings=settings, source=source, at=at, on_progress=on_progress
    )
    prepare(workspace, run_id, on_progress=on_progress)


def prepare(workspace: Workspace, run_id: int, *, on_progress: OnProgress) -> None:
    """Read the visited pages of a run by the current model and its committee, and save the candidates for
    questions and the changes of results. Raises UsageError if the run has no pages."""
    card = workspace.forage_models.last()
    model = load_forage_model(workspace, card.name)
    settings = settings_from_json(card.strategy, report_of(workspace, card.name).settings)
    trails = workspace.stores.trails.trails()
    committee = train_committee(
        model, trails, card.strategy, settings, lambda done: on_progress("training a committee", done, COMMITTEE)
    )  # fmt: skip
    candidates: list[KeptCandidate] = []
    changes: list[SiteChange] = []
    total = workspace.stores.forage.progress(run_id).sites
    for number, site in enumerate(read_sites(workspace, run_id)):
        on_progress("reading visited pages again", number, total)
        candidates += candidates_of(site, committee)
        said = workspace.stores.review.judged(run_id, site.site.start)
        changes += change_of(run_id, site, scorer_of(card.strategy, model), said)
    if not candidates:
        raise UsageError("This run has no pages to ask about: its sites could not be reached.")
    workspace.stores.review.replace_candidates(run_id, candidates)
    workspace.stores.review.replace_changes(run_id, changes)


def train_committee(
    first: TrainedModel,
    trails: Sequence[Trail],
    strategy: str,
    settings: Settings,
    on_member: Callable[[int], None] = lambda _: None,
) -> list[Scorer]:
    """Return the scorers of the model in use and of others, each trained on a bootstrap sample of the trails.

    `on_member` is called with the number of members trained so far.
    """
    usable = resolve_redirects(ended_trails(trails))
    scorers = [scorer_of(strategy, first)]
    for sample in bootstrap_trails(usable, COMMITTEE, np.random.default_rng(len(usable)))[1:]:
        on_member(len(scorers))
        try:
            scorers.append(scorer_of(strategy, train_strategy(strategy, Material(sample), settings)))
        except TeachingError:  # a sample without goals: the committee is smaller
            continue
    return scorers


def candidates_of(site: VisitedSite, committee: Sequence[Scorer]) -> Iterator[KeptCandidate]:
    """Yield the pages of a site to ask about; not the start page, which is neither goal nor rejected."""
    readings = [site.readings(scorer) for scorer in committee]
    sizes = site.region_sizes()
    for number, page in site.pages.items():
        parent = site.parents[number]
        if parent is None:
            continue
        region = site.visits[number].link_region
        chances = tuple(reading[number].goal for reading in readings)
        # An answer informs about all links of the region, but about each of many less than about each of few.
        stake = math.sqrt(sizes[parent, region] or 1)
        yield KeptCandidate(site.site.start, number, page.url, chances, f"{parent} {region}", stake)


def change_of(
    run_id: int, site: VisitedSite, scorer: Scorer, answers: Mapping[str, bool] = NO_ANSWERS
) -> Iterator[SiteChange]:
    """Yield how the goals of a site would differ by this scorer and what a person said; nothing if not at all."""
    readings = site.readings_by_replay(scorer)
    after = {number for number, reading in readings.items() if reading.goal >= GOAL_AT}
    if isinstance(scorer, RecognisingScorer):
        goals = {page.url for page in scorer.report(answers=answers).goals}
        after = {number for number in readings if site.pages[number].url in goals}
    before = {number for number in site.pages if site.visits[number].tier == "goal"}
    if after != before:
        lost, gained = (
            tuple(site.pages[number].url for number in sorted(numbers))
            for numbers in (before - after, after - before)
        )
        yield SiteChange(run_id, site.site.start, lost, gained)
