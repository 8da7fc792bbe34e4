"""After answers: teach the model again, ask anew, and tell which sites' results would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wayhound.app.rate_visits import visited_page
from wayhound.app.train import (
    MEMBERS,
    OnProgress,
    candidates_of,
    load_forage_model,
    report_of,
    scorer_of,
    teach_committee,
    train,
)
from wayhound.app.walked import Walked, walked_site, walked_sites
from wayhound.errors import UsageError
from wayhound.forage.scorer import Scorer
from wayhound.paths.questions import Candidate, Question, QuestionPicker, StopAsking
from wayhound.paths.settings import PathSettings
from wayhound.store.review import KeptCandidate, ReviewAnswer, SiteChange
from wayhound.trail import FAIL, GOAL
from wayhound.workspace import Workspace

SOURCE = "review"
MOST_OF_A_GROUP = 5  # trails that the rejection of a link group makes
UNASKED = -1.0  # in place of a question's worth, when a person says something without being asked


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the visit that it is about."""

    candidate: KeptCandidate
    question: Question


class Review:
    """The questions and answers of one run."""

    def __init__(self, workspace: Workspace, run_id: int) -> None:
        self.run_id = run_id
        self._workspace = workspace
        self._store = workspace.stores.review

    # Asking

    def next_question(self) -> Asked | StopAsking | None:
        """What to ask now, or why to stop; None if no questions have been prepared."""
        candidates = self._store.candidates(self.run_id)
        if not candidates:
            return None
        ended = self._taught_ends()
        by_key = {_key(each.site, each.number): each for each in candidates if each.url not in ended}
        asking = self._asking(self._store.answers(self.run_id))
        found = asking.next_question([_offered(key, each) for key, each in by_key.items()])
        return found if isinstance(found, StopAsking) else Asked(by_key[found.candidate.key], found)

    def _taught_ends(self) -> set[str]:
        return {summary.end_url for summary in self._workspace.stores.trails.summaries()}

    def _asking(self, answers: Iterable[ReviewAnswer]) -> QuestionPicker:
        """What was asked is a fold over the saved answers."""
        asking = QuestionPicker()
        for each in answers:
            candidate = Candidate(_key(each.site, each.number), each.site, (each.chance,), each.group)
            was_goal = each.answer == GOAL if each.answer and each.worth > UNASKED else None
            asking.record_answer(Question(candidate, 1.0, each.worth), was_goal)
        return asking

    # Answering

    def answer(self, site: str, number: int, label: str, at: float) -> int | None:
        """Keep an answer: `Goal`, `Fail`, another label, or nothing if the person cannot say."""
        candidate = self._candidate(site, number)
        worth = UNASKED
        if isinstance(asked := self.next_question(), Asked) and asked.candidate == candidate:
            worth = asked.question.value
        return self._keep(candidate, label, worth, at)

    def _candidate(self, site: str, number: int) -> KeptCandidate:
        for each in self._store.candidates(self.run_id):
            if (each.site, each.number) == (site, number):
                return each
        visits = self._workspace.stores.forage.visits_of(self.run_id, site)
        visit = next((each for each in visits if each.number == number), None)
        if visit is None:
            raise UsageError(f"Run {self.run_id} has no visit {number} of {site}.")
        return KeptCandidate(
            site, number, visit.url, (visit.goal,), f"{visit.parent} {visit.link_region}", 1.0
        )

    def _keep(self, candidate: KeptCandidate, label: str, worth: float, at: float) -> int | None:
        trail = self._add_trail(candidate, label, at) if label else None
        chance = sum(candidate.chances) / len(candidate.chances)
        self._store.add_answer(
            ReviewAnswer(
                self.run_id,
                candidate.site,
                candidate.number,
                candidate.url,
                candidate.group,
                label,
                chance,
                worth,
                trail,
                at,
            )
        )
        return trail

    def _add_trail(self, candidate: KeptCandidate, label: str, at: float) -> int:
        page = visited_page(self._workspace, self.run_id, candidate.site, candidate.number)
        if label != GOAL:
            self._check_not_taught(candidate)
        self._forget([each for each in self._store.answers(self.run_id) if _same(each, candidate)], at)
        return self._workspace.stores.trails.add(page.walked.trail(candidate.number, label), at, SOURCE)

    def _check_not_taught(self, candidate: KeptCandidate) -> None:
        """One goal among the trails to a page outweighs all that fail, so the person has to choose."""
        own = {each.trail_id for each in self._store.answers(self.run_id) if _same(each, candidate)}
        for summary in self._workspace.stores.trails.summaries(candidate.site):
            if summary.end_url == candidate.url and summary.ending == GOAL and summary.id not in own:
                raise UsageError(
                    f"Trail {summary.id} teaches that {candidate.url} is a goal: delete or relabel it first."
                )

    # Taking back

    def take_back(self, at: float) -> list[ReviewAnswer]:
        """Forget what was said last, with its trails: one answer, or those of a whole list."""
        said = self._store.answers(self.run_id)
        return self._forget([each for each in said if each.at == said[-1].at], at)

    def take_back_of(self, site: str, number: int, at: float) -> list[ReviewAnswer]:
        """Forget what was said of a page, and of the others of its list if all were meant."""
        said = self._store.answers(self.run_id)
        moments = {each.at for each in said if (each.site, each.number) == (site, number)}
        return self._forget([each for each in said if each.at in moments], at)

    def _forget(self, answers: list[ReviewAnswer], at: float) -> list[ReviewAnswer]:
        self._store.delete_answers(answers)
        for trail in self._kept_trails() & {each.trail_id for each in answers}:
            self._workspace.stores.trails.delete(trail, at)
        return answers

    def _kept_trails(self) -> set[int]:
        return {summary.id for summary in self._workspace.stores.trails.summaries()}

    # Correct one, fix all

    def reject(self, site: str, number: int, at: float) -> int | None:
        """A found goal is none: the path to it becomes a trail that fails."""
        return self._keep(self._candidate(site, number), FAIL, UNASKED, at)

    def reject_group(self, site: str, number: int, at: float) -> int:
        """Nothing behind the links that stand like the one to this page is wanted; tells how many trails
        that made."""
        walked = walked_site(self._workspace, self.run_id, site)
        if number not in walked.pages:
            raise UsageError(f"The page of visit {number} of {site} is not in the archive.")
        members = [self._candidate(site, each) for each in walked.group_of(number)[:MOST_OF_A_GROUP]]
        for each in members:  # all of the list, or nothing of it
            self._check_not_taught(each)
        for each in members:
            self._keep(each, FAIL, UNASKED, at)
        return len(members)

    def rejections(self) -> dict[tuple[str, int], int]:
        """By site and visit, how many pages were rejected together with it; trails deleted since do not count."""
        trails, said = self._kept_trails(), self._store.answers(self.run_id)
        kept = [each for each in said if each.answer == FAIL and each.trail_id in trails]
        together = Counter(each.at for each in kept)
        return {(each.site, each.number): together[each.at] for each in kept}


def _key(site: str, number: int) -> str:
    return f"{number} {site}"


def _same(answer: ReviewAnswer, candidate: KeptCandidate) -> bool:
    return (answer.site, answer.number) == (candidate.site, candidate.number)


def _offered(key: str, each: KeptCandidate) -> Candidate:
    return Candidate(key, each.site, each.chances, each.group, each.stake)


GOAL_AT = 0.5  # as a forage counts goals


def retrain(workspace: Workspace, run_id: int, *, at: float, on_progress: OnProgress) -> None:
    """Teach the model that was trained last again, with the settings it has, then prepare the next questions."""
    card = workspace.forage_models.last()
    settings = PathSettings.from_json(report_of(workspace, card.name).settings)
    train(workspace, card.name, card.strategy, settings=settings, at=at, on_progress=on_progress)
    prepare(workspace, run_id, on_progress=on_progress)


def prepare(workspace: Workspace, run_id: int, *, on_progress: OnProgress) -> None:
    """Read the visited pages of a run by the model of now and its committee: what to ask, what has changed."""
    card = workspace.forage_models.last()
    model = load_forage_model(workspace, card.name)
    trails = workspace.stores.trails.trails()
    committee = teach_committee(
        model,
        trails,
        card.strategy,
        PathSettings.from_json(report_of(workspace, card.name).settings),
        lambda ready: on_progress("teaching a committee", ready, MEMBERS),
    )
    candidates: list[KeptCandidate] = []
    changes: list[SiteChange] = []
    total = workspace.stores.forage.progress(run_id).sites
    for number, walked in enumerate(walked_sites(workspace, run_id)):
        on_progress("reading visited pages again", number, total)
        candidates += candidates_of(walked, committee)
        changes += change_of(run_id, walked, scorer_of(card.strategy, model))
    _keep(workspace, run_id, candidates, changes)


def _keep(
    workspace: Workspace, run_id: int, candidates: list[KeptCandidate], changes: list[SiteChange]
) -> None:
    if not candidates:
        raise UsageError("This run has no pages to ask about: its sites were not reached.")
    store = workspace.stores.review
    store.replace_candidates(run_id, candidates)
    store.replace_changes(run_id, changes)


def change_of(run_id: int, walked: Walked, scorer: Scorer) -> Iterator[SiteChange]:
    """What the goals of a site would be now, against those that were found; nothing if they are the same."""
    readings = walked.readings_as_foraged(scorer)
    now = {number for number, reading in readings.items() if reading.goal >= GOAL_AT}
    then = {number for number in walked.pages if walked.visits[number].is_goal}
    if now != then:
        lost, gained = (
            tuple(walked.pages[number].url for number in sorted(numbers))
            for numbers in (then - now, now - then)
        )
        yield SiteChange(run_id, walked.site.start, lost, gained)
