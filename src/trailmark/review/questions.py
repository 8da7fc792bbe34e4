"""Review: one page at a time, answered with one key; each answer becomes a trail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from trailmark.errors import UsageError
from trailmark.review.archived import walked_site
from trailmark.review.rating import visited_page
from trailmark.store.review import KeptCandidate, ReviewAnswer, ReviewStore
from trailmark.teach.asking import Asking, Candidate, Enough, Question
from trailmark.trail import FAIL, GOAL
from trailmark.workspace import Workspace

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
        self._store = ReviewStore(workspace.database)

    # Asking

    def next_question(self) -> Asked | Enough | None:
        """What to ask now, or why to stop; None if no questions have been prepared."""
        candidates = self._store.candidates(self.run_id)
        if not candidates:
            return None
        ended = self._taught_ends()
        by_key = {_key(each.site, each.number): each for each in candidates if each.url not in ended}
        asking = self._asking(self._store.answers(self.run_id))
        found = asking.next_question([_offered(key, each) for key, each in by_key.items()])
        return found if isinstance(found, Enough) else Asked(by_key[found.candidate.key], found)

    def _taught_ends(self) -> set[str]:
        return {summary.end_url for summary in self._workspace.trails.summaries()}

    def _asking(self, answers: Iterable[ReviewAnswer]) -> Asking:
        """What was asked is a fold over the saved answers."""
        asking = Asking()
        for each in answers:
            candidate = Candidate(_key(each.site, each.number), each.site, (each.chance,), each.group)
            was_goal = each.answer == GOAL if each.answer and each.worth > UNASKED else None
            asking.tell(Question(candidate, 1.0, each.worth), was_goal)
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
        visits = self._workspace.forage_store.visits_of(self.run_id, site)
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
        return self._workspace.trails.add(page.walked.trail(candidate.number, label), at, SOURCE)

    def _check_not_taught(self, candidate: KeptCandidate) -> None:
        """One goal among the trails to a page outweighs all that fail, so the person has to choose."""
        own = {each.trail_id for each in self._store.answers(self.run_id) if _same(each, candidate)}
        for summary in self._workspace.trails.summaries(candidate.site):
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
        self._store.forget_answers(answers)
        for trail in self._kept_trails() & {each.trail_id for each in answers}:
            self._workspace.trails.delete(trail, at)
        return answers

    def _kept_trails(self) -> set[int]:
        return {summary.id for summary in self._workspace.trails.summaries()}

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
