from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wayhound.learn.landmarks import (
    Alphabet,
    CompiledRule,
    LandmarkLearner,
    SkipExample,
    SkipRule,
    Term,
    TokenClass,
    bare,
    class_of,
    classes_of,
    generalise,
)

TOKENS = ["<td>", '<td class="x">', "<b>", "</b>", "Cast", "ALL", "12", "b2", ",", "§"]
tokens = st.lists(st.sampled_from(TOKENS), max_size=12)
terms = st.one_of(st.sampled_from(TOKENS), st.sampled_from(TokenClass))
landmarks = st.lists(terms, min_size=1, max_size=3).map(tuple)
sequences = st.lists(landmarks, min_size=1, max_size=2).map(tuple)


def matches(term: Term, token: str) -> bool:
    if isinstance(term, TokenClass):
        return term in classes_of(token)
    return term == token or term == bare(token)


def slow_stop(sequence: Any, content: Any) -> Any:
    """Skip to each landmark in turn, token by token, as the paper defines SkipTo."""
    place = 0
    for landmark in sequence:
        while place + len(landmark) <= len(content):
            window = content[place : place + len(landmark)]
            if all(map(matches, landmark, window)):
                break
            place += 1
        else:
            return None
        place += len(landmark)
    return place


@given(tokens, sequences)
def test_a_compiled_rule_stops_where_reading_token_by_token_stops(content: Any, sequence: Any) -> None:
    rule = SkipRule((sequence,))
    alphabet = Alphabet(rule.terms)
    text = alphabet.encode(content)
    assert CompiledRule(rule, alphabet).stop(text, 0, len(text)) == slow_stop(sequence, content)


@given(tokens, sequences)
def test_a_rule_from_the_end_mirrors_a_rule_from_the_start(content: Any, sequence: Any) -> None:
    rule = SkipRule((sequence,), from_end=True)
    alphabet = Alphabet(rule.terms)
    text = alphabet.encode(content)
    mirrored = slow_stop([landmark[::-1] for landmark in sequence], content[::-1])
    expected = None if mirrored is None else len(content) - mirrored
    assert CompiledRule(rule, alphabet).stop(text, 0, len(text)) == expected


@given(tokens, st.lists(sequences, max_size=3).map(tuple))
def test_the_first_alternative_that_matches_decides(content: Any, alternatives: Any) -> None:
    rule = SkipRule(alternatives)
    alphabet = Alphabet(rule.terms)
    text = alphabet.encode(content)
    stops = (slow_stop(sequence, content) for sequence in alternatives)
    expected = next((stop for stop in stops if stop is not None), None) if alternatives else 0
    assert CompiledRule(rule, alphabet).stop(text, 0, len(text)) == expected


@given(terms, terms)
def test_a_generalised_term_matches_whatever_either_matches(first: Any, second: Any) -> None:
    term = generalise(first, second)
    if term is not None:
        for token in TOKENS:
            if matches(first, token) or matches(second, token):
                assert matches(term, token)


@given(st.lists(sequences, max_size=3).map(tuple), st.booleans())
def test_a_rule_survives_json(alternatives: Any, from_end: Any) -> None:
    rule = SkipRule(alternatives, from_end)
    assert SkipRule.from_json(rule.to_json()) == rule


def test_every_token_has_one_of_the_seven_classes() -> None:
    kinds = {
        "<b>": "HTMLTag",
        ",": "Punctuation",
        "Cast": "Alphabetic",
        "b2": "Alphanumeric",
        "12": "Numeric",
    }
    kinds |= {"ALL": "AllCaps", "§": "Symbol", "Ähre": "Alphabetic"}
    assert {token: class_of(token).value for token in kinds} == kinds


PAGE = tuple("<b> Menu </b> <i> <b> Starring </b> <a> A </a> <b> Director </b> <a> B </a>".split())
OTHER = tuple("<b> Menu </b> <b> News </b> <b> Starring </b> <a> C </a>".split())


def test_a_landmark_is_refined_until_it_tells_two_like_looking_lists_apart() -> None:
    stop = PAGE.index("Director") + 2
    examples = [SkipExample(PAGE, PAGE.index("Director") + 1, stop), SkipExample(OTHER)]
    learner = LandmarkLearner().fit(examples)
    assert learner.uncovered_ == []
    assert any("Director" in landmark for sequence in learner.alternatives_ for landmark in sequence)


def test_examples_that_no_single_sequence_explains_get_a_disjunction() -> None:
    first = tuple("<b> One </b> <a>".split())
    second = tuple("<i> Two </i> <a>".split())
    examples = [
        SkipExample(first, 2, 2),
        SkipExample(second, 2, 2),
        SkipExample(tuple("<b> x </b> <i> y </i>".split())),
    ]
    learner = LandmarkLearner().fit(examples)
    assert len(learner.alternatives_) == 2
    assert learner.uncovered_ == []


@given(st.lists(tokens.filter(bool).map(tuple), min_size=1, max_size=3))
def test_learned_sequences_are_right_on_the_examples_they_cover(contents: Any) -> None:
    examples = [SkipExample(content, len(content), len(content)) for content in contents]
    learner = LandmarkLearner().fit(examples)
    for example in examples:
        if example not in learner.uncovered_:
            stops = [slow_stop(sequence, example.tokens) for sequence in learner.alternatives_]
            assert example.latest in stops


class SlowLearner(LandmarkLearner):
    """Searches token by token, and remembers nothing."""

    def _stop(self, rule: Any, example: SkipExample) -> int | None:
        stop: int | None = slow_stop(rule, example.tokens)
        return stop


@given(
    st.lists(tokens.filter(bool).map(tuple), min_size=1, max_size=3),
    st.lists(tokens, max_size=2),
    st.booleans(),
)
def test_the_same_rules_are_learned_as_by_searching_token_by_token(
    contents: Any, negatives: Any, late: bool
) -> None:
    examples = [SkipExample(content, len(content) // 2, len(content)) for content in contents]
    examples += [SkipExample(tuple(content)) for content in negatives]
    fast, slow = (kind(late=late).fit(examples) for kind in (LandmarkLearner, SlowLearner))
    assert fast.alternatives_ == slow.alternatives_
    assert fast.uncovered_ == slow.uncovered_


def test_of_equal_landmarks_a_common_one_is_chosen_and_then_the_nearest() -> None:
    page = tuple("<div> <i> <p> <u> <a>".split())
    examples = [SkipExample(page, 1, 4)]
    assert LandmarkLearner().fit(examples).alternatives_ == ((("<div>",),),)
    assert LandmarkLearner(late=True).fit(examples).alternatives_ == ((("<u>",),),)
    assert LandmarkLearner(is_common=lambda tag: tag == "<p>").fit(examples).alternatives_ == ((("<p>",),),)


def test_words_that_are_not_stable_are_never_used_literally() -> None:
    examples = [SkipExample(PAGE, 2, 2)]
    learner = LandmarkLearner(is_stable=lambda _word: False).fit(examples)
    terms_used = [term for sequence in learner.alternatives_ for landmark in sequence for term in landmark]
    assert "Menu" not in terms_used
