"""How a model rates the links of a visited page, read along the path that was walked to it."""

from __future__ import annotations

from dataclasses import dataclass

from wayhound.app.train import load_forage_model, scorer_of
from wayhound.app.walked import Walked, page_of
from wayhound.errors import UsageError
from wayhound.fetched import Fetched
from wayhound.forage.explain import Explanation, explain
from wayhound.site import Site
from wayhound.visit import Visit, path_to
from wayhound.workspace import Workspace


@dataclass(frozen=True)
class VisitedPage:
    """A page of a run with the path that led to it, as the archive holds it."""

    visit: Visit
    walked: Walked
    answer: Fetched

    @property
    def links_clicked(self) -> tuple[str, ...]:
        """The words of the links on the way here."""
        clicked = (self.walked.link_to(number) for number in self.walked.way(self.visit.number))
        return tuple(link.text or link.url for link in clicked if link is not None)


def visited_page(workspace: Workspace, run_id: int, start: str, number: int) -> VisitedPage:
    """Reads the pages of one path alone, not the whole site."""
    visits = list(workspace.stores.forage.visits_of(run_id, start))
    if not 0 <= number < len(visits):
        raise UsageError(f"Run {run_id} has no visit {number} of {start}.")
    reader = workspace.archive
    path = path_to(number, visits.__getitem__)
    found = ((each.number, page_of(reader, each)) for each in path)
    pages = {each: page for each, page in found if page is not None}
    archived = visits[number].archived
    if number not in pages or archived is None:
        raise UsageError(f"Visit {number} of {start} brought no page that can be shown.")
    return VisitedPage(visits[number], Walked(Site(start), visits, pages), reader.read(archived))


def explained(workspace: Workspace, page: VisitedPage, model_name: str) -> Explanation:
    """What the model makes of the page and its links."""
    card = workspace.forage_models.card(model_name)
    scorer = scorer_of(card.strategy, load_forage_model(workspace, card.name))
    walked = page.walked
    path = [(walked.link_to(number), walked.pages[number]) for number in walked.way(page.visit.number)]
    return explain(scorer, walked.site, path)
