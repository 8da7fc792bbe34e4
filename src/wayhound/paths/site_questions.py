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

from wayhound.paths.site_recognition import NO_ANSWERS, Answers, SiteRecogniser

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

    Until a goal is confirmed, ask about the likeliest page: a "yes" proves that the site has goals. Then ask about
    the most uncertain page. Where one goal is expected, a confirmed one ends the questions.
    """
    asked = [page.url in answers for page in recogniser.pages]
    found = any(answers.get(page.url) for page in recogniser.pages)
    if sum(asked) >= most or all(asked) or (found and recogniser.one_goal):
        return None
    probabilities = recogniser.probabilities(answers)
    value = probabilities * (1 - probabilities) if found else probabilities
    number = int(np.where(asked, -1.0, value).argmax())
    return PageQuestion(recogniser.pages[number].url, float(probabilities[number]))
