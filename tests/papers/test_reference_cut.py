"""Lists of references in every style are cut into single ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.papers.texts import placed, plain
from wayhound.documents.document import Line
from wayhound.papers.reference_cut import cut_references

ENTRIES = [
    [
        "Rabiner, L. R. (1989). A tutorial on hidden Markov models and",
        "selected applications. Proceedings of the IEEE, 77.",
    ],
    [
        "McCallum, A., Nigam, K., & Rennie, J. (2000). Automating the",
        "construction of portals. Information Retrieval, 3.",
    ],
    [
        "Dempster, A. P. (1977). Maximum likelihood from incomplete",
        "data via the EM algorithm. J. Roy. Stat. Soc., 39.",
    ],
    ["van Rijsbergen, C. J. (1979). Information Retrieval.", "Butterworths, London."],
]
INITIALS_FIRST = [
    ["L. R. Rabiner. A tutorial on hidden Markov models and", "selected applications. Proc. IEEE, 77, 1989."],
    [
        "A. McCallum, K. Nigam, and J. Rennie. Automating the",
        "construction of portals. Inf. Retrieval, 2000.",
    ],
    ["A. P. Dempster. Maximum likelihood from incomplete", "data via the EM algorithm. JRSS, 39, 1977."],
]


def whole(entries: list[list[str]]) -> list[str]:
    return [" ".join(entry) for entry in entries]


def cut(lines: list[Line] | tuple[Line, ...]) -> list[str]:
    return [reference.text for reference in cut_references(lines)]


@pytest.mark.parametrize("label", ["[{}]", "{}.", "({})", "{})", "{}", "[ {} ]"])
def test_numbered_entries(label: str) -> None:
    numbered = [
        line
        for number, (first, *rest) in enumerate(ENTRIES[:3], start=1)
        for line in (f"{label.format(number)} {first}", *rest)
    ]
    references = cut_references(placed(numbered))
    assert [reference.text for reference in references] == whole(ENTRIES[:3])
    assert [reference.label for reference in references] == ["1", "2", "3"]


def test_a_line_that_begins_with_a_number_is_no_entry() -> None:
    lines = placed(
        [
            "1. Rabiner, L. R. A tutorial. Proc. IEEE, volume",
            "77. IEEE Press, 1989.",
            "2. Baum, L. E. An",
            "inequality. 1972.",
        ]
    )
    assert cut(lines) == [
        "Rabiner, L. R. A tutorial. Proc. IEEE, volume 77. IEEE Press, 1989.",
        "Baum, L. E. An inequality. 1972.",
    ]


def test_a_number_that_was_lost_costs_one_cut() -> None:
    lines = placed([f"[{n}] Author {n}. Title of it. 199{n}." for n in (1, 2, 4, 5)])
    assert [reference.label for reference in cut_references(lines)] == ["1", "2", "4", "5"]


@pytest.mark.parametrize(
    "labels", [["Rab89", "MNR+00", "Dem77"], ["Rabiner, 1989", "McCallum et al., 2000", "Dempster, 1977a"]]
)
def test_labelled_entries(labels: list[str]) -> None:
    lines = [
        line
        for label, (first, *rest) in zip(labels, ENTRIES, strict=False)
        for line in (f"[{label}] {first}", *rest)
    ]
    references = cut_references(placed(lines))
    assert [reference.label for reference in references] == labels
    assert [reference.text for reference in references] == whole(ENTRIES[:3])


def test_a_label_may_be_cut_by_the_end_of_a_line() -> None:
    lines = [
        "[Rabiner, 1989] Rabiner, L. R. A tutorial.",
        "[McCallum and Nigam and Rennie,",
        "2000] McCallum, A. Automating.",
    ]
    assert [each.label for each in cut_references(placed(lines))] == [
        "Rabiner, 1989",
        "McCallum and Nigam and Rennie, 2000",
    ]


@pytest.mark.parametrize("entries", [ENTRIES, INITIALS_FIRST])
def test_hanging_entries(entries: list[list[str]]) -> None:
    hanging = [line for first, *rest in entries for line in (first, *(f"  {each}" for each in rest))]
    assert cut(placed(hanging)) == whole(entries)


def test_hanging_entries_over_columns_and_pages() -> None:
    """A column may begin with the rest of an entry, or hold nothing else; left pages are shifted."""
    first, second, third, fourth = ([entry[0], f"  {entry[1]}"] for entry in ENTRIES)
    left = placed([*first, second[0]], column=1)
    right = placed([second[1], *third], x=310, column=2)
    verso = placed([*fourth, *first, second[0]], x=60, page=2, column=1)
    alone = placed([second[1]], x=298, page=2, column=2)
    expected = whole([*ENTRIES, ENTRIES[0], ENTRIES[1]])
    assert cut([*left, *right, *verso, *alone]) == expected


@pytest.mark.parametrize("entries", [ENTRIES, INITIALS_FIRST])
def test_entries_below_gaps(entries: list[list[str]]) -> None:
    lines = [line for number, entry in enumerate(entries) for line in placed(entry, y=100 + 32 * number)]
    assert cut(lines) == whole(entries)


@pytest.mark.parametrize("entries", [ENTRIES, INITIALS_FIRST])
def test_entries_in_plain_text(entries: list[list[str]]) -> None:
    solid = "\n".join(line for entry in entries for line in entry)
    apart = "\n\n".join("\n".join(entry) for entry in entries)
    hanging = "\n".join(
        line for first, *rest in entries for line in (first, *(f"    {each}" for each in rest))
    )
    for text in (solid, apart, hanging):
        assert cut(plain(text).lines) == whole(entries)


def test_an_author_repeated_by_a_dash_begins_an_entry() -> None:
    lines = [
        "Rabiner, L. R. A tutorial. Proc. IEEE, 1989.",
        "———. Another paper. Prentice Hall, 1993.",
        "Baum, L. E. An inequality. 1972.",
    ]
    assert len(cut(placed(lines))) == 3


def test_cut_words_are_healed_and_lines_kept() -> None:
    lines = placed(["[1] L. Rabiner. Hidden Mar-", "kov models. 1989.", "[2] L. Baum. Growth. 1972."])
    reference = cut_references(lines)[0]
    assert reference.text == "L. Rabiner. Hidden Markov models. 1989."
    assert reference.lines == tuple(lines[:2])


def test_a_part_of_a_reference_has_its_regions() -> None:
    lines = placed(["[1] L. Rabiner. Hidden Mar-", "kov models. 1989.", "[2] L. Baum. Growth. 1972."])
    reference = cut_references(lines)[0]
    start = reference.text.index("Markov")
    assert [region.box for region in reference.regions(start, start + 6)] == [lines[0].box, lines[1].box]
    assert [region.box for region in reference.regions(0, 2)] == [lines[0].box]


def test_the_last_entry_does_not_run_on() -> None:
    entries = placed([f"[{n}] Author {n}. Title of it. 199{n}." for n in range(1, 6)])
    below = placed(["Letters in Examples, 2024"], y=300, size=8)
    assert cut([*entries, *below])[-1] == "Author 5. Title of it. 1995."
    much = placed([f"and this text goes on {n}" for n in range(30)], y=170)
    assert len(cut_references([*entries, *much])[-1].lines) < 5


@pytest.mark.parametrize(
    "tail",
    [
        ["Anna Weber is a senior lecturer at the University of", "Towns, where she has taught since 1999."],
        ["Example Press, 12 Long Street, Oslo. Printed in Norway", "by Slow Printers."],
        ["Anschrift: Anna Weber, Lange Gasse 3, 68159 Mannheim.", "E-Mail on request."],
    ],
)
def test_what_follows_the_list_is_no_reference(tail: list[str]) -> None:
    entries = [*ENTRIES, *ENTRIES[:2], tail]
    lines = [line for entry in entries for line in (entry[0], f"   {entry[1]}")]
    assert cut(placed(lines)) == whole(entries[:-1])


def test_references_without_years_are_kept_where_many_have_none() -> None:
    entries = [
        *ENTRIES,
        ["Weber, A. Trust in small towns and", "other places. Towns."],
        ["Wood, B. Trees and", "more. Woods."],
    ]
    lines = [line for entry in entries for line in (entry[0], f"   {entry[1]}")]
    assert len(cut(placed(lines))) == 6


def test_nothing_comes_of_nothing() -> None:
    assert cut_references([]) == []
    assert cut_references(placed(["[1]", "2."])) == []


@given(st.lists(st.text(max_size=30), max_size=12))
def test_any_lines_can_be_cut(texts: list[str]) -> None:
    with_places = cut_references(placed(texts))
    without = cut_references([replace(line, box=None) for line in placed(texts)])
    for reference in [*with_places, *without]:
        assert reference.text.strip()


def test_the_end_of_a_long_list_is_found_in_linear_time() -> None:
    """Each line of its last entry is compared with the others as a whole, not with every line of them."""
    entries = [[f"{number}. Lind, A. Hops. 1999.", *["More of it."] * 100] for number in range(1, 300)]
    end = ["300. Wood, B. Trees. 2001.", *["And more of it."] * 30_000]
    references = cut_references([Line(text) for entry in [*entries, end] for text in entry])
    assert len(references) == 300
    assert references[-1].text.startswith("Wood, B. Trees. 2001. And more of it.")


def test_addresses_of_authors_after_the_list_are_no_references() -> None:
    texts = [text for first, *rest in ENTRIES * 2 for text in (first, *(f"    {line}" for line in rest))]
    addresses = ["Ada Example", "Institute of Walks, University of Bergen", "ada@walks.example"]
    assert [reference.text for reference in cut_references(placed([*texts, *addresses]))] == whole(
        ENTRIES * 2
    )


def test_numbers_set_above_the_line_are_labels() -> None:
    lines = [
        replace(line, text=f"{n}{line.text}", superscripts=((0, 1),)) if line is entry[0] else line
        for n, entry in enumerate((placed(texts, y=100 + 40 * n) for n, texts in enumerate(ENTRIES)), start=1)
        for line in entry
    ]
    cut = cut_references(lines)
    assert [reference.label for reference in cut] == ["1", "2", "3", "4"]
    assert [reference.text for reference in cut] == whole(ENTRIES)


def test_a_biography_below_a_numbered_list_is_not_part_of_its_last_entry() -> None:
    """It stands left of where the further lines of entries begin, or a wider gap is above it."""
    entries = [*ENTRIES, ENTRIES[0]]
    lines = [
        line
        for number, (first, *rest) in enumerate(entries, start=1)
        for line in (f"[{number}] {first}", *(f"    {each}" for each in rest))
    ]
    biography = ["Anna Lind received her doctorate in 1998.", "She lives in Exampleton and writes on lists."]
    assert cut(placed([*lines, *biography])) == whole(entries)
    assert cut(placed([line.strip() for line in [*lines, *biography]])) == whole(entries)


def test_an_author_repeated_by_a_drawn_rule_begins_an_entry() -> None:
    lines = [
        "Lind, Anna (2001) “The first way over the hills,” Northern Journal",
        "  of Walking, 3, 1–9.",
        "      (2002) “The second way over the hills,” Northern Journal",
        "  of Walking, 4, 11–19.",
        "Wood, Bo (2003) “No way over the hills,” Northern Journal of",
        "  Walking, 5, 21–29.",
    ]
    assert [text[:10] for text in cut(placed(lines))] == ["Lind, Anna", "(2002) “Th", "Wood, Bo ("]
