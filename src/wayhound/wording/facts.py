"""Facts in words: how the search for them went, for each row and for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wayhound.app.facts.extraction import ExtractedFacts
from wayhound.app.facts.extractors import CostlyExtraction
from wayhound.app.facts.search import Wanted
from wayhound.app.facts.tables import FactRow, WideRow
from wayhound.wording.faults import format_ending
from wayhound.wording.quantities import count

FOUND = "found"
MOST_MISSING = 3  # fields that are named


def format_extracted(done: ExtractedFacts, wanted: Wanted) -> str:
    """Return `Read 12 pages; 9 organisations known.`"""
    things = f"{done.entities:,} {(wanted.kind.label if done.entities == 1 else wanted.kind.plural).lower()}"
    stopped = " Stopped: the same command goes on." if done.stopped else ""
    if not done.pages:
        return f"No new pages to read; {things} known.{stopped}"
    return f"Read {count(done.pages, 'page')}; {things} known.{stopped}"


def format_costly(done: CostlyExtraction) -> str:
    """Return what costly extractors did, what they spent in all, and what is left."""
    spent = f"{done.spent.seconds:,.0f} s" + (f" and {done.spent.money:,.2f}" if done.spent.money else "")
    if done.stopped:
        rest = " Stopped: the same command goes on."
    elif done.left:
        rest = f" The budget is spent; {count(done.left, 'page')} left: raise it to go on."
    else:
        rest = ""
    trouble = "".join(f"\n{problem}" for problem in done.problems)
    return (
        f"Costly extractors read {count(done.pages, 'page')} and found {count(done.facts, 'fact')}; "
        f"{spent} spent in all.{rest}{trouble}"
    )


def format_row(row: FactRow, fields: Sequence[str]) -> str:
    """Return how the search for one row went: `found`, `found, but no phone`, or why there is nothing.

    Where many fields are missing, as of a whole kind, they are counted: the empty cells show which.
    """
    missing = row.missing(fields)
    if not missing:
        return FOUND
    if len(missing) == len(fields):
        return f"nothing found ({format_ending(row.reason)})" if row.reason else "nothing found"
    if len(missing) > MOST_MISSING:
        return f"found, {len(fields) - len(missing)} of {len(fields)} fields"
    return f"found, but no {' or '.join(missing)}"


def format_wide_row(row: WideRow, fields: Sequence[str], outcomes: Mapping[str, tuple[str, str, int]]) -> str:
    """Return how the search for a row of a person's own table went, given state, reason and requests of each site."""
    if not row.start:
        return "no web address in this row"
    if row.facts is not None:
        return format_row(row.facts, fields)
    if row.start not in outcomes:
        return "not visited yet"
    return f"nothing found ({format_ending(outcomes[row.start][1]) or 'not finished'})"
