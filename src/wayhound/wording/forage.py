"""A goal as a person reads it: how sure, by which way, and why."""

from __future__ import annotations

from rich.text import Text

from wayhound.app.forage import Order, run_before
from wayhound.cli.compare import since_before
from wayhound.cli.console import count, err, next_steps, shown, typed
from wayhound.cli.forage_display import closing_table
from wayhound.store.forage import Progress, Run, SiteSummary
from wayhound.store.goals import FoundGoal, PathStep
from wayhound.wording.cli_labels import in_words
from wayhound.wording.reasons import reason_words
from wayhound.workspace import Workspace


def announce(workspace: Workspace, run: Run) -> None:
    progress = workspace.stores.forage.progress(run.id)
    order = Order.from_identity(run.identity)
    sites = count(progress.sites, "site")
    if run.is_new:
        before = run_before(workspace.stores.forage, run)
        again = f" What has not changed since run {before.id} need not be sent again." if before else ""
        err.print(f"Foraging {sites} into {shown(workspace.folder)}, {by_what(order)}.{again}", markup=False)
    elif progress.is_over:
        err.print(f"{sites} done before, by the same command. To walk them once more, add --again.")
    else:
        err.print(
            f"Going on: {progress.done:,} of {sites} done, {count(progress.spent, 'page')} fetched so far."
        )


def by_what(order: Order) -> str:
    """`by the model paths`, `best-first by keywords`, `breadth-first`."""
    if order.model:
        return f"by the model {order.model}"
    return f"{order.strategy} by {', '.join(order.keywords)}" if order.keywords else order.strategy


def say_what_may_surprise(workspace: Workspace, run: Run, asked: int) -> None:
    """Sites of an earlier list that belong to the same run, and a forage that has no goal."""
    order = Order.from_identity(run.identity)
    others = workspace.stores.forage.progress(run.id).sites - asked
    if others > 0:
        err.print(
            f"The run has {count(others, 'site')} of earlier lists too; with --fresh it would be a new one."
        )
    if not (order.model or order.goal):
        err.print("Every page is kept; none counts as a goal, since nothing says what you look for.")


def conclude(workspace: Workspace, run: Run, *, stopped: bool, fresh: bool) -> None:
    store = workspace.stores.forage
    progress, sites = store.progress(run.id), list(store.sites(run.id))
    err.print()
    err.print(closing_table(sites))
    err.print(f"\n{came_of_it(progress, sites)}")
    if stopped:
        err.print(f"Stopped. The same command{' without --fresh' if fresh else ''} goes on from here.")
        return
    steps = _next(workspace, Order.from_identity(run.identity), progress, sites)
    if changes := since_before(workspace, run):
        err.print(_not_sent_again(store.not_modified(run.id), progress.spent), changes, markup=False)
        steps.insert(0, (typed(workspace.folder, "compare"), "goals that are new, changed or gone"))
    next_steps(*steps)


def _not_sent_again(unchanged: int, spent: int) -> str:
    return f"{unchanged:,} of {count(spent, 'page')} had not changed and were not sent again."


def came_of_it(progress: Progress, sites: list[SiteSummary]) -> str:
    """`3 of 3 sites done, 60 pages, 7 goals on 2 sites.`, and how many sites gave nothing at all."""
    with_goals = sum(site.goals > 0 for site in sites)
    where = f" on {count(with_goals, 'site')}" if progress.goals else ""
    silent = sum(site.reason.startswith("start page failed") for site in sites)
    told = (
        f"{progress.done:,} of {count(progress.sites, 'site')} done, {count(progress.spent, 'page')}, "
        f"{count(progress.goals, 'goal')}{where}."
    )
    return told + (f" {count(silent, 'site')} gave no page." if silent else "")


def _next(
    workspace: Workspace, order: Order, progress: Progress, sites: list[SiteSummary]
) -> list[tuple[str, str]]:
    folder = workspace.folder
    if progress.goals:
        return [
            (typed(folder, "status --goals"), "each goal, the clicks that lead there, and why"),
            (typed(folder, "export goals --out goals.csv"), "all goals as a table"),
            (typed(folder, "export sites --out sites.csv"), "every site: how many goals, why it stopped"),
            (typed(folder, "studio"), "look through them in a browser, and correct"),
        ]
    if order.model and sites:
        return [
            (
                typed(folder, f"explain {sites[0].start}"),
                "how the links of this start page are rated, and why",
            ),
            (typed(folder, f"teach {sites[0].start}"), "show the way on one of these sites too"),
        ]
    return [
        (typed(folder, "export pages --out pages.csv"), "every page, with the clicks that led there"),
        (typed(folder, "forage … --keyword contact"), "say by words what you look for"),
    ]


REASONS = 5


def goal_text(goal: FoundGoal) -> Text:
    text = Text.assemble((f"{goal.probability:4.0%} ", "bold green"), (goal.title or "(no title)", "bold"))
    text.append(f"  {goal.url}\n")
    for number, step in enumerate(goal.path):
        text.append(f"     {'  ' * number}{_step(step)}\n")
    spoke_for_it = [(feature, weight) for feature, weight in goal.why if weight > 0]
    if spoke_for_it:
        why = ", ".join(
            f"{reason_words(feature)} {weight:+.2f}" for feature, weight in spoke_for_it[:REASONS]
        )
        text.append(f"     because of {why}\n", style="dim")
    return text


def _step(step: PathStep) -> str:
    label = f" [{in_words(step.label)}]" if step.label else ""
    if not step.link:
        return f"{step.url}{label}"
    return f"› {step.link} ({step.score:.2f}){label}"
