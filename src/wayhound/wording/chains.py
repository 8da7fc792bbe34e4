"""Sentences about link chains: rules in readable form, and how learning and extraction went."""

from __future__ import annotations

from collections.abc import Sequence

from wayhound.app.chains.relationships import Extracted, Learned
from wayhound.chains.construction import ChainRules
from wayhound.chains.rules import LeafRule, PathRule
from wayhound.learn.landmarks import Landmark, SkipRule, TokenClass
from wayhound.wording.quantities import count

_CLASSES = {
    TokenClass.HTML_TAG: "any tag",
    TokenClass.PUNCTUATION: "any punctuation",
    TokenClass.ALPHABETIC: "any word",
    TokenClass.ALPHANUMERIC: "any word or number",
    TokenClass.NUMERIC: "any number",
    TokenClass.ALL_CAPS: "any word in capitals",
    TokenClass.SYMBOL: "any sign",
}
_PATTERNS = {
    "year": "a year",
    "number": "a number",
    "date": "a date",
    "url": "a web address",
    "person name": "a person's name",
    "title case": "a title",
}


def format_rules(rules: ChainRules) -> list[str]:
    """Return the rules in words, a line for each step and alternative."""
    return [lead + format_path(path) for lead, path in paths_in_order(rules)]


def paths_in_order(rules: ChainRules) -> list[tuple[str, PathRule]]:
    """Return the paths of all patterns in order, each with what to write before it: `Step 2: ` or `or: `."""
    paths: list[tuple[str, PathRule]] = []
    for number, pattern in enumerate(rules.patterns):
        for step, choices in enumerate(pattern, 1):
            lead = f"Step {step}: " if len(pattern) > 1 else ""
            lead = f"Or {lead[:1].lower()}{lead[1:]}" if number and step == 1 else lead
            paths += [(lead if not place else "    or: ", path) for place, path in enumerate(choices)]
    return paths


def format_path(path: PathRule) -> str:
    """Return one alternative: `after Starring: … up to </table>, every link that looks like a person's name`."""
    parts = []
    if path.start.alternatives:
        parts.append(f"after {_skips(path.start)}")
    if (end := path.end if path.end.alternatives else path.close).alternatives:
        parts.append(f"up to {_ends(end)}")
    if path.text:
        which = f"the link “{path.text}”"
    else:
        which = "every link" if path.repeats else "each link"
        which += "".join(f" {words}" for words in [_leaves(path.leaves)] if words)
        which += f" whose text looks like {_PATTERNS[path.target]}" if path.target in _PATTERNS else ""
    sentence = ", ".join([*parts, which]) if parts else which
    return sentence[:1].upper() + sentence[1:]


def format_formal(path: PathRule) -> list[str]:
    """Return the rules of a path as the paper writes them."""
    lines = []
    if path.start.alternatives:
        lines.append(f"list.sr = {_formal(path.start)}")
    if path.end.alternatives:
        lines.append(f"list.er = {_formal(path.end)}   from the end")
    if path.close.alternatives:
        lines.append(f"list.close = {_formal(path.close)}   from the start of the list")
    for leaf in path.leaves:
        after = f"   leaf.er = SkipTo({_tokens(leaf.after)})" if leaf.after else ""
        lines.append(f"leaf.sr = SkipTo({_tokens(leaf.before)}){after}")
    lines.append(f"leaf.tr = HasAnchorTextPattern({path.text or path.target})")
    return lines


def _formal(rule: SkipRule) -> str:
    return " or ".join(
        " ".join(f"SkipTo({_tokens(mark)})" for mark in sequence) for sequence in rule.alternatives
    )


def _skips(rule: SkipRule) -> str:
    return ", or ".join(" … ".join(map(_landmark, sequence)) for sequence in rule.alternatives)


def _ends(rule: SkipRule) -> str:
    if not rule.from_end:
        return _skips(rule)
    # read from the end, the last landmark of a sequence is the first on the page
    sequences = [" before the last ".join(map(_landmark, sequence[::-1])) for sequence in rule.alternatives]
    return ", or ".join(f"the last {sequence}" for sequence in sequences)


def _landmark(landmark: Landmark) -> str:
    """Return the words of a landmark, or its tags if it has no words."""
    words = [term for term in landmark if isinstance(term, str) and not term.startswith("<")]
    if words:
        return "“" + " ".join(words).replace(" :", ":") + "”"
    return _tokens(landmark)


def _leaves(leaves: Sequence[LeafRule]) -> str:
    shown = []
    for leaf in leaves:
        before = leaf.before[:-1] if leaf.before[-1] == "<a>" else leaf.before
        parts = [f"after {_tokens(before)}"] if before else []
        parts += [f"before {_tokens(leaf.after)}"] if leaf.after else []
        if parts:
            shown.append(" and ".join(parts))
    return ", or ".join(shown)


def _tokens(landmark: Landmark) -> str:
    return " ".join(term if isinstance(term, str) else f"({_CLASSES[term]})" for term in landmark)


def format_learned(learned: Learned) -> str:
    """Return one sentence about a lesson."""
    return (
        f"Learned {learned.relationship.signature} from {count(learned.examples, 'example')} in "
        f"{learned.seconds:.1f} s: the rules take {count(learned.taken, 'chain')} from the example pages."
    )


def format_extracted(outcome: Extracted) -> list[str]:
    """Return sentences about an extraction: what was found, what no rule covers, and what to do about it."""
    name = outcome.relationship.name
    lines = [f"{name}: {count(outcome.instances, 'instance')} from {count(outcome.pages, 'source page')}."]
    if outcome.uncovered:
        lines.append(
            f"No rule covers {count(len(outcome.uncovered), 'page')} ({outcome.uncovered_share:.0%})."
        )
    if outcome.ask_about:
        lines.append(
            f"If pages such as {outcome.ask_about} have such links, one more example there would cover up to "
            f"{count(outcome.would_cover, 'page')}."
        )
    if outcome.unread:
        lines.append(
            f"{count(len(outcome.unread), 'page')} could not be read, the first: {outcome.unread[0]}"
        )
    if outcome.stopped_by_budget:
        lines.append(
            "The budget of pages was spent before all chains were complete. Raise it to get the rest."
        )
    if outcome.stale:
        lines.append(
            f"The rules no longer take what was taught on {count(len(outcome.stale), 'example page')}, the first: "
            f"{outcome.stale[0]}. The site may have changed: learn {name} again from its stored examples."
        )
    return lines
