"""Questions to a person about pages of one site: the page whose answer helps to recognise its goals most.

    answers: dict[str, bool] = {}
    while (page := next_question(recogniser, answers)) is not None:
        answers[page.url] = ask(page.url)
    recogniser.ranked(answers=answers)

`paths.questions` chooses questions for teaching instead, over many sites.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayhound.paths.site_recognition import NO_ANSWERS, Answers, SiteRecogniser, group_means, group_numbers

QUESTIONS_A_SITE = 3


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A page to ask about, and the probability that it is a goal."""

    url: str
    probability: float


def next_question(
    recogniser: SiteRecogniser, answers: Answers = NO_ANSWERS, most: int = QUESTIONS_A_SITE
) -> PageQuestion | None:
    """Return the page to ask about next, or None if `most` are answered or no page is left.

    Until a goal is confirmed, ask about the likeliest page: a "yes" proves that the site has goals. Then ask where
    most depends on the answer: uncertain pages in large lists.
    """
    asked = [page.url in answers for page in recogniser.pages]
    if sum(asked) >= most or all(asked):
        return None
    probabilities = recogniser.probabilities(answers)
    value = probabilities
    if any(answers.values()):
        lists = group_numbers([page.groups[0] for page in recogniser.pages])
        _, sizes = group_means(probabilities, lists)
        value = probabilities * (1 - probabilities) * np.sqrt(sizes)
    number = int(np.where(asked, -1.0, value).argmax())
    return PageQuestion(recogniser.pages[number].url, float(probabilities[number]))
