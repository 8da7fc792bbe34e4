"""A forage as the form of the studio orders it: complained of before anything is begun, and shown again as it was."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from wayhound.app.forage import Order, new_nonce, open_run, resume_run
from wayhound.app.site_list import SiteList
from wayhound.errors import UsageError
from wayhound.store.protocol import Run, RunLimits
from wayhound.studio.forms import Form
from wayhound.web.errors import BadRequest
from wayhound.wording.runs import format_skipped
from wayhound.workspace import Workspace

MOST_SEEDS = 10_000
MOST_PAGES = 1_000_000


@dataclass(frozen=True, slots=True)
class Filled:
    """The fields of the form, as they were filled in or as they usually are."""

    seeds: str = ""
    model: str = ""
    words: str = ""
    budget: str = ""
    delay: str = ""
    goals: str = ""
    files: bool = False
    fresh: bool = False

    @classmethod
    def of(cls, form: Form) -> Filled:
        text = form.text
        return cls(
            "\n".join(filter(None, (text("seeds"), *form.texts("site")))),
            text("model"), text("words"), text("budget"), text("delay"), text("goals"),
            text("files") == "yes", text("fresh") == "yes",
        )  # fmt: skip

    @classmethod
    def usual(cls, workspace: Workspace) -> Filled:
        config = workspace.config
        models = workspace.forage_models
        return cls(
            model=models.last().name if models.names() else "",
            budget=str(config.forage.budget_per_site),
            delay=f"{config.fetch.delay_seconds:g}",
        )


def open_ordered(workspace: Workspace, form: Form) -> tuple[Run, str]:
    """Open the run that a form orders, and say in words what that means."""
    listed = _sites(form)
    limits = RunLimits(budget_per_site=form.whole("budget", 1, MOST_PAGES))
    form.number("delay", 0, 3600)
    run = open_run(workspace, _order(workspace, form), limits, listed.sites.values(), time.time())
    return run, " ".join(filter(None, (_begun(workspace, run), format_skipped(listed.skipped))))


def open_again(workspace: Workspace, run: Run, budget: int) -> bool:
    """Go on with a run, perhaps with more pages a site; tells whether there is anything left to do."""
    limits = RunLimits(budget, run.limits.total_budget, run.limits.max_depth)
    resume_run(workspace, run, limits, time.time())
    return not workspace.stores.forage.progress(run.id).is_over


def filled_like(workspace: Workspace, run: Run) -> Filled:
    """The form for a new run on the sites of an old one."""
    order = Order.from_identity(run.identity)
    usual = Filled.usual(workspace)
    starts = (site.start for site in workspace.stores.forage.sites(run.id))
    return Filled(
        "\n".join(starts),
        order.model if order.model in workspace.forage_models.names() else "",
        ", ".join(order.keywords),
        str(run.limits.budget_per_site or usual.budget),
        usual.delay,
        str(order.goals_wanted or ""),
        order.take_files,
        fresh=True,
    )


def _sites(form: Form) -> SiteList:
    listed = SiteList()
    try:
        for text in (form.text("seeds"), "\n".join(form.texts("site"))):
            listed.add_text(text, "the list")
    except UsageError as error:
        raise BadRequest(str(error)) from None
    if not listed.sites:
        raise BadRequest("Name at least one start page.")
    if len(listed.sites) > MOST_SEEDS:
        raise BadRequest(f"More than {MOST_SEEDS:,} start pages: use `wayhound forage` with a file.")
    return listed


def _order(workspace: Workspace, form: Form) -> Order:
    words = tuple(re.findall(r"[^\s,;]+", form.text("words")))
    goals = form.whole("goals", 1, MOST_PAGES) if form.text("goals") else None
    how = _by_model(workspace, form, words) if form.text("model") else _by_words(words)
    return Order(
        **how,
        goals_wanted=goals,
        fresh=new_nonce() if form.text("fresh") == "yes" else "",
        take_files=form.text("files") == "yes",
    )


def _by_model(workspace: Workspace, form: Form, words: tuple[str, ...]) -> dict[str, str]:
    if words:
        raise BadRequest(
            "A model tells goals by what it was taught; words have no say in it. "
            "Choose “words, without a model”, or leave the words away."
        )
    card = workspace.forage_models.card(form.text("model"))
    return {"strategy": card.strategy, "model": card.name}


def _by_words(words: tuple[str, ...]) -> dict[str, object]:
    if not words:
        raise BadRequest(
            "Say a word that the wanted pages have in their address or title, or choose a model."
        )
    return {"strategy": "best-first", "goal": "|".join(map(re.escape, words)), "keywords": words}


def _begun(workspace: Workspace, run: Run) -> str:
    if run.is_new:
        return "The forage begins."
    if workspace.stores.forage.progress(run.id).is_over:
        return (
            "These sites were walked in the same way before: this is what came of it. To walk them again, "
            "tick “A new run”."
        )
    return f"Run {run.id} was ordered in the same way and goes on: what it found before is among the results."
