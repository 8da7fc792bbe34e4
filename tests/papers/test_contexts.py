"""Call-outs, their references, and the sentences around them."""

from __future__ import annotations

import pytest

from tests.papers.texts import laid_out, placed, plain
from wayhound.documents.document import Line
from wayhound.documents.flow import flow
from wayhound.papers.contexts import (
    AuthorYearFinder,
    find_callouts,
    find_contexts,
    sentence_around,
    sentence_starts,
)
from wayhound.papers.reference_cut import RawReference, cut_references
from wayhound.papers.sections import reference_lines

NUMBERED = [RawReference(f"A. Author{n}. Title {n}. 199{n}.", str(n)) for n in range(1, 10)]
BY_NAME = [
    RawReference(
        "Kaelbling, L. P., Littman, M. L., & Moore, A. W. (1996). Reinforcement learning: A survey. JAIR."
    ),
    RawReference("McCallum, A., and Nigam, K. (1998). A comparison of event models. AAAI workshop."),
    RawReference(
        "McCallum, A., Nigam, K., Rennie, J., and Seymore, K. (1999). A machine learning approach. IJCAI."
    ),
    RawReference("Rabiner, L. R. (1989). A tutorial on hidden Markov models. Proceedings of the IEEE."),
    RawReference("Y. Yang. Mixing strategies. Ann. Statistics, 2000a."),
    RawReference("Y. Yang. Combining procedures. J. Mult. Anal., 2000b."),
    RawReference("B. Schölkopf and J. Shawe-Taylor. Kernels. MIT Press, 2002."),
    RawReference("van der Maaten, L. (2009). Learning a parametric embedding. AISTATS."),
]


def cited(
    text: str, references: list[RawReference], superscripts: tuple[tuple[int, int], ...] = ()
) -> list[tuple[str, tuple[int, ...]]]:
    return [
        (text[each.start : each.end], each.references)
        for each in find_callouts(text, superscripts, references)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as in [3].", [("[3]", (2,))]),
        ("as in [3, 5].", [("[3, 5]", (2, 4))]),
        ("as in [2-4,7] and [9]", [("[2-4,7]", (1, 2, 3, 6)), ("[9]", (8,))]),
        ("as in [1]–[3]", [("[1]", (0,)), ("[3]", (2,))]),
        ("see [4, Theorem 2]", [("[4, Theorem 2]", (3,))]),
        ("values in [0, 1] and of x[2]", []),
        ("a set of [1, 100] things", []),
        ("h : X → [1, 2] is", [("[1, 2]", (0, 1))]),
        ("backwards [7-3]", []),
    ],
)
def test_numbers_in_brackets(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert cited(text, NUMBERED) == expected


def test_numbers_above_the_line() -> None:
    text = "As shown before,1,2 it works.3 With x2 it does not."
    marks = ((16, 19), (29, 30), (37, 38))
    assert [text[start:end] for start, end in marks] == ["1,2", "3", "2"]
    assert cited(text, NUMBERED, marks) == [("1,2", (0, 1)), ("3", (2,))]


def test_numbers_in_parentheses_only_where_there_is_no_other_way() -> None:
    text = "It was shown (1) and denied (2), then shown again (3, 4)."
    assert [found for found, _ in cited(text, NUMBERED)] == ["(1)", "(2)", "(3, 4)"]
    assert [found for found, _ in cited(text + " See [1], [2] and [3].", NUMBERED)] == ["[1]", "[2]", "[3]"]


def test_numbers_count_also_where_the_list_has_none() -> None:
    unnumbered = [RawReference(f"A. Author{n}. Title {n}. 199{n}.") for n in range(1, 5)]
    assert cited("as in [2] and [3]", unnumbered) == [("[2]", (1,)), ("[3]", (2,))]


def test_labels() -> None:
    references = [
        RawReference("A title. 2003.", "BC03"),
        RawReference("Other. 2005.", "LYW+05"),
        RawReference("Third.", "Pearl, 1988"),
    ]
    text = "Shown by [BC03, LYW+05] and [Pearl, 1988; BC03], not in [XY99]."
    assert cited(text, references) == [("[BC03, LYW+05]", (0, 1)), ("[Pearl, 1988; BC03]", (2, 0))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was shown (Kaelbling et al., 1996).", [("Kaelbling et al., 1996", (0,))]),
        (
            "It was shown (Kaelbling et al. 1996; Rabiner 1989).",
            [("Kaelbling et al. 1996", (0,)), ("Rabiner 1989", (3,))],
        ),
        ("Rabiner (1989) gives a tutorial.", [("Rabiner (1989)", (3,))]),
        ("McCallum and Nigam (1998) compare.", [("McCallum and Nigam (1998)", (1,))]),
        ("McCallum & Nigam [1998] compare.", [("McCallum & Nigam [1998]", (1,))]),
        ("McCallum et al. (1999) learn.", [("McCallum et al. (1999)", (2,))]),
        ("by Yang (2000a,b) and Yang (2000b)", [("Yang (2000a,b)", (4, 5)), ("Yang (2000b)", (5,))]),
        ("Scholkopf and Shawe-Taylor (2002)", [("Scholkopf and Shawe-Taylor (2002)", (6,))]),
        ("van der Maaten (2009)", [("van der Maaten (2009)", (7,))]),
        ("in Kaelbling, Littman and Moore (1996)", [("Kaelbling, Littman and Moore (1996)", (0,))]),
        ("Rabiner’s (1989) tutorial", [("Rabiner’s (1989)", (3,))]),
        ("In May 1989 and at IJCAI 1999", []),
        ("Rabiner (1990)", []),
    ],
)
def test_authors_and_years(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert cited(text, BY_NAME) == expected


def test_of_references_of_one_year_the_one_with_these_authors_is_meant() -> None:
    references = [
        RawReference("M. Bowling, P. McCracken, and M. James. Learning predictive state. ICML, 2006."),
        RawReference("P. McCracken and M. Bowling. Online discovery of states. NIPS, 2006."),
        RawReference("H. Shen and K. Hüper. Local convergence analysis. ICA, 2006."),
        RawReference("H. Shen, K. Hüper, and A. Smola. Newton-like methods. ICONIP, 2006."),
        RawReference(
            "Stephen Della Pietra, Vincent Della Pietra, and John Lafferty. Inducing features. 2006."
        ),
    ]
    text = "McCracken and Bowling [2006], Bowling et al. [2006], Shen et al. [2006], Shen and Hüper [2006], "
    found = cited(text + "and Della Pietra et al. [2006]", references)
    assert [each for _, each in found] == [(1,), (0,), (3,), (2,), (4,)]


def test_numbered_lists_may_be_cited_by_name() -> None:
    numbered = [RawReference(reference.text, str(n)) for n, reference in enumerate(BY_NAME, start=1)]
    text = "Rabiner (1989), McCallum and Nigam (1998), Kaelbling et al. (1996) and values in [1, 2]."
    assert [references for _, references in cited(text, numbered)] == [(3,), (1,), (0,)]


def sentences(*texts: str) -> list[str]:
    running = flow([Line(text) for text in texts])
    starts = sentence_starts(running)
    return [
        running.text[a:b].strip()
        for a, b in zip(starts, [*starts[1:], len(running.text)], strict=True)
        if running.text[a:b].strip()
    ]


def test_sentences_end_at_stops_but_not_at_abbreviations() -> None:
    texts = ("We follow Smith et al. in this. See Fig. 3 and e.g. the work of J. Doe. It", "is so. Is it?")
    assert sentences(*texts) == [
        "We follow Smith et al. in this.", "See Fig. 3 and e.g. the work of J. Doe.", "It is so.", "Is it?",
    ]  # fmt: skip


def test_a_superscript_does_not_hide_the_end_of_a_sentence() -> None:
    line = Line("It was shown.12 We go on.", superscripts=((13, 15),))
    running = flow([line])
    starts = sentence_starts(running)
    assert running.text[starts[1] :] == "We go on."
    first, last = sentence_around(running, starts, 13, 15)
    assert running.text[first:last].strip() == "It was shown.12"


def test_headings_are_no_part_of_sentences() -> None:
    heading = placed(["3 Experiments"], size=14)
    running = flow([*heading, *placed(["We use the data of others."] * 3, y=130)])
    assert running.text[sentence_starts(running)[1] :].startswith("We use")


def test_numbered_headings_of_the_size_of_the_text_are_no_part_of_sentences() -> None:
    said = ("The errors are small.", "3.3 A Classification Example", "We conclude with the data of [14].")
    assert sentences(*said) == list(said)
    assert sentences("There are no more than", "12 Angry men in it", "and they sit.") == [
        "There are no more than 12 Angry men in it and they sit."
    ]


def test_a_bold_heading_may_go_on_in_the_next_line() -> None:
    heading = [Line("5.2 Sources with near-zero", bold=True), Line("kurtosis", bold=True)]
    running = flow([*heading, Line("We generate sources as in [7].")])
    starts = sentence_starts(running)
    first, last = sentence_around(running, starts, running.text.index("[7]"), len(running.text))
    assert running.text[first:last] == "We generate sources as in [7]."


def test_many_small_words_of_a_figure_do_not_make_headings_of_the_text() -> None:
    figure = [line for n in range(40) for line in placed(["0.5"], size=2, y=100 + n)]
    said = ["Much is said of it elsewhere, and more."] * 4
    text = placed([*said, "We follow the structure", "of others [8] in this."], size=10, y=300)
    running = flow([*figure, *text])
    at = running.text.index("[8]")
    first, last = sentence_around(running, sentence_starts(running), at, at + 3)
    assert "We follow the structure of others [8] in this." in running.text[first:last]


def test_a_sentence_without_end_is_cut() -> None:
    running = flow([Line("word " * 500)])
    first, last = sentence_around(running, sentence_starts(running), 1250, 1254)
    assert first <= 1250
    assert last >= 1254
    assert last - first < 800


PAPER = """A Title

Abstract
We extend the work of others [1].

1 Introduction
Portals grow. They were built by hand [2, 3], which is hard to main-
tain. See also [3].

References

[1] A. Author. A title of some length. 1999.
[2] B. Writer. Another title. 2001.
[3] C. Scribe. A third title. 2003.
"""


def test_contexts_of_a_paper() -> None:
    document = plain(PAPER)
    references = cut_references(reference_lines(document))
    contexts = find_contexts(document, references)
    assert [(each.reference, each.callout) for each in contexts] == [
        (0, "[1]"),
        (1, "[2, 3]"),
        (2, "[2, 3]"),
        (2, "[3]"),
    ]
    assert contexts[0].sentence == "We extend the work of others [1]."
    assert contexts[1].sentence == "They were built by hand [2, 3], which is hard to maintain."
    assert all(each.page == 1 for each in contexts)


def test_contexts_say_where_they_stand() -> None:
    lines = placed(PAPER.splitlines())
    document = laid_out(lines)
    contexts = find_contexts(document, cut_references(reference_lines(document)))
    assert contexts[-1].box == next(line.box for line in lines if line.text.startswith("tain."))


def test_without_references_there_are_no_contexts() -> None:
    assert find_contexts(plain(PAPER), []) == ()


def test_a_bibliography_alone_has_no_citing_sentences() -> None:
    document = plain(
        "References\n[1] A. Lind. Hops. Journal of Links, 1998.\n[2] B. Wood. Trees. Journal of Links, 1999."
    )
    references = cut_references(reference_lines(document))
    assert len(references) == 2
    assert list(find_contexts(document, references)) == []


def test_a_word_of_hyphens_is_looked_through_once() -> None:
    """Looking for the year behind it from every hyphen would take hours."""
    finder = AuthorYearFinder(["Lind-Wood, A. (2000). Hops."])
    words = "Ab-" * 100_000
    at = len(words) + 1
    assert list(finder.find(f"{words} Lind-Wood’s (2000)")) == [(at, at + 18, (0,))]
