"""Ratings of pages and links in words: `“people” in the link` for the feature `says people`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from wayhound.forage.explain import PATH_REASON, Explanation, RatedLink
from wayhound.wording.faults import format_fault
from wayhound.wording.quantities import count, format_label, format_probability

_PLACES = {
    "title": "in its title",
    "heading": "in a heading",
    "body": "in its text",
    "url": "in its address",
    "address": "in its address",
    "link": "in the link to it",
    "says": "in the link",
    "near": "beside the link",
    "to": "in the link's address",
    "to last": "at the end of the link's address",
    "on title": "in the title of the page around it",
    "on heading": "in a heading of the page around it",
    "on url": "in the address of the page around it",
}
_CONCEPT_PLACES = {
    "@title": "in its title",
    "@heading": "in a heading",
    "@body": "in its text",
    "@address": "in its address",
    "@folder": "in the folders of its address",
    "@link": "in the link",
    "@from": "in the name of the page before",
    "@content": "in its text",
}
_STRUCTURE = {
    "#length": "the length of its text",
    "#own length": "the length of its text outside links",
    "#phone": "how many telephone numbers its text has",
    "#links": "how many links it has",
    "#linked text": "how much of its text is links",
    "#longest list": "how long its longest list is",
    "#headings": "how many headings it has",
    "#title length": "the length of its title",
    "#numbers": "how many numbers its text has",
    "#years": "how many years its text names",
    "#empty": "it has no text",
    "#below": "how many of its links lead below it",
    "#folders": "how many folders its address has",
    "#number in address": "a number at the end of its address",
    "#long address": "how many words end its address",
    "#query": "a query in its address",
    "#home": "a personal address (~)",
    "#depth": "how many clicks it is from the start",
    "#start": "it is the start page",
    "#alike": "how many links are at the same place as the link to it",
    "#alone": "no other link is at the place of the link to it",
    "#link length": "how many words the link to it has",
    "#named so": "its title repeats the link to it",
    "#same folder": "the same folder as the page before",
    "#deeper": "a folder below the page before",
    "@like goals": "its name is like those of the goals that were shown",
}
REASONS_SHOWN = 4
_SHARES = ("no", "some", "many", "only")


def format_reason(feature: str) -> str:
    """Return the words for one feature; names that are words already are returned unchanged."""
    if feature in _STRUCTURE:
        return _STRUCTURE[feature]
    place, _, word = feature.rpartition(" ")
    if place in _CONCEPT_PLACES:
        return f"a word for “{word.replace('_', ' ')}” {_CONCEPT_PLACES[place]}"
    if place in _PLACES:
        return f"“{word}” {_PLACES[place]}"
    kind, _, value = feature.partition(" ")
    words = _OTHERS[kind](value) if kind in _OTHERS else ""
    return words or feature


def format_reasons(weights: Sequence[tuple[str, float]], most: int = REASONS_SHOWN, digits: int = 2) -> str:
    """Return the first features with their weights: `“people” in the link +0.50, …`."""
    return ", ".join(f"{format_reason(feature)} {weight:+.{digits}f}" for feature, weight in weights[:most])


def format_main_reason(weights: Sequence[tuple[str, float]]) -> str:
    """Return the strongest reason as one sentence without numbers; empty if nothing spoke for the decision.

    The way here sums up all pages and links before, so what the page itself adds is named beside it.
    """
    reasons = [name for name, _ in sorted(supporting(weights), key=lambda reason: -reason[1])]
    if not reasons:
        return ""
    if reasons[0] != PATH_REASON:
        return f"Mainly because of {format_reason(reasons[0])}."
    beside = f", and because of {format_reason(reasons[1])}" if len(reasons) > 1 else ""
    return f"Mainly because of the way here, the pages and links before it{beside}."


TIE = 0.005  # scores that are printed alike
_NAMED = 3


def format_tie(links: Sequence[RatedLink]) -> str:
    """Return a warning that the best links, which come first, have the same score; empty if one is ahead."""
    best = [rated for rated in links if links[0].score - rated.score < TIE]
    if len(best) < 2:
        return ""
    names = [" ".join(rated.link.text.split())[:40] or rated.link.url for rated in best[:_NAMED]]
    more = f" and {len(best) - _NAMED} more" if len(best) > _NAMED else ""
    return (
        f"{len(best)} links share the best score ({', '.join(names)}{more}), so chance decides their order. That is "
        "right for the entries of one list. If only one of them leads to goals, reject a page behind the others when "
        "you teach."
    )


def supporting(weights: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the features that spoke for a decision, without those that spoke against it."""
    return [(feature, weight) for feature, weight in weights if weight > 0]


def format_expectation(label: str, goal: float) -> str:
    """Return `one click before a goal (probability of a goal: 12%)`; empty without a label."""
    return f"{format_label(label)} (probability of a goal: {format_probability(goal)})" if label else ""


def format_other_links(explanation: Explanation, shown: int) -> str:
    """Return how many links are not among those shown, and why some would not be followed."""
    more = len(explanation.links) - shown
    parts = [f"{count(more, 'more link')}" if more > 0 else "", _not_followed(explanation)]
    return "; ".join(filter(None, parts)) or "These are all its links."


def _not_followed(explanation: Explanation) -> str:
    reasons = Counter(reason for _, reason in explanation.not_followed)
    parts = ", ".join(f"{number} ({format_fault(reason)})" for reason, number in sorted(reasons.items()))
    return f"not followed: {parts}" if parts else ""


def _number(words: Callable[[int], str]) -> Callable[[str], str]:
    """Apply `words` to values that are numbers; any other value has none."""
    return lambda value: words(int(value)) if value.isdigit() else ""


def _clicks(number: int) -> str:
    if number == 0:
        return "it is the start page"
    return f"{count(number, 'click')}{' or more' if number >= 4 else ''} from the start page"


def _about(number: int) -> str:
    """Return the size of a bucket; buckets are powers of two, so 4 stands for 16 to 31."""
    return str(1 << number) if number < 2 else f"about {1 << number}"


def _length(words: int) -> str:
    return (
        "one word in the link"
        if words == 1
        else f"{words}{' or more' if words >= 6 else ''} words in the link"
    )


def _way(value: str) -> str:
    """Return how many folders a link's address leads up and down from the page's."""
    match value.split():
        case ["elsewhere"]:
            return "its address is on another host"
        case ["up", up] if up.isdigit():
            return f"its address leads up {_folders(up)}"
        case ["down", down] if down.isdigit():
            return f"its address leads down {_folders(down)}"
        case [up, down] if up.isdigit() and down.isdigit():
            return f"its address leads up {_folders(up, most=2)} and down {_folders(down)}"
    return ""


def _folders(number: str, most: int = 3) -> str:
    """Return `no folder`, `1 folder` or `2 folders`; `most` stands for as many and more."""
    if number == "0":
        return "no folder"
    return f"{number} or more folders" if int(number) >= most else count(int(number), "folder")


_OTHERS: Mapping[str, Callable[[str], str]] = {
    "depth": _number(_clicks),
    "alike": _number(
        lambda number: f"{_about(number)} links at its place" if number else "the only link at its place"
    ),
    "homes": _number(lambda number: f"{_SHARES[min(number, 3)]} personal pages beside it"),
    "links": _number(lambda number: f"the page around it has {_about(number)} links"),
    "length": _number(_length),
    "looks": lambda shape: f"a link that looks like “{shape}”" if shape else "a link without words",
    "stands": lambda place: f"its place on the page, {place}",
    "kind": lambda kind: f"a link of the kind {kind}",
    "matches": lambda pattern: f"its address or title matches “{pattern}”",
    "is": lambda kind: "it is a document" if kind == "document" else f"it is a file of the type {kind}",
    "way": _way,
    "#depth": _number(_clicks),
    "#in": lambda tag: f"the link to it is in <{tag}>",
    "#looks": lambda shape: (
        f"the link to it looks like “{shape}”" if shape else "the link to it has no words"
    ),
}
