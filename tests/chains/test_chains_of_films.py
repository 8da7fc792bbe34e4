"""Learning and construction on the sample catalogue, and on small pages for each oddity."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.chains.construction import (
    ChainRules,
    ExampleChain,
    ExampleLink,
    Extraction,
    construct_chains,
    learn_chains,
)
from wayhound.chains.learning import LinkExample, StepLearner
from wayhound.chains.rules import PageRules, PathRule
from wayhound.chains.tokens import TokenPage, title_words
from wayhound.errors import TeachingError
from wayhound.samples.films import ROLES, FilmSite

BASE = "http://films.localhost:8000"
SITE = FilmSite(seed=7)


def get_page(url: str) -> TokenPage | None:
    page = SITE.pages.get(url.removeprefix(BASE))
    return TokenPage(url, page.body.decode()) if page else None


SOURCES = [BASE + film.path for film in SITE.films]


def truth_of(role: str) -> set[tuple[str, ...]]:
    return {tuple(BASE + path for path in chain) for chain in SITE.chains(role)}


def example_of(urls: Any, *, wanted: bool = True, name: str = "Example 1") -> ExampleChain:
    links = tuple(ExampleLink(page, target) for page, target in pairwise(urls))
    return ExampleChain(links, wanted, name)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("count", [1, 4])
def test_one_example_is_enough_to_tell_four_like_looking_lists_apart(role: Any, count: Any) -> None:
    truth = truth_of(role)
    examples = [example_of(chain, name=f"Example {n}") for n, chain in enumerate(sorted(truth)[:count])]
    rules = learn_chains(examples, get_page, SOURCES)
    report = Extraction()
    found = {chain.urls for chain in construct_chains(rules, SOURCES, get_page, report)}
    assert found == truth
    assert report.pages == len(SOURCES)


def test_rules_survive_json() -> None:
    rules = learn_chains([example_of(min(truth_of("Starring")))], get_page, SOURCES)
    assert ChainRules.from_json(rules.to_json()) == rules


def test_a_chain_follows_links_only_to_the_page_that_they_lead_to() -> None:
    rules = learn_chains([example_of(min(truth_of("Director")))], get_page, SOURCES)
    for chain in construct_chains(rules, SOURCES, get_page, Extraction()):
        for element, following in zip(chain.elements, chain.elements[1:], strict=False):
            assert element.link.target == following.page
        for element in chain.elements:
            page = get_page(element.page)
            assert page
            assert page.text[element.link.pos :].startswith("<a ")


def test_a_budget_stops_the_construction() -> None:
    rules = learn_chains([example_of(min(truth_of("Starring")))], get_page, SOURCES)
    report = Extraction()
    fetched = []

    def counting(url: Any) -> Any:
        fetched.append(url)
        return get_page(url)

    list(construct_chains(rules, SOURCES, counting, report, budget=5))
    assert report.stopped_by_budget
    assert len(fetched) == 5


# Small pages


def page_of(body: str, url: str = "http://a.example/1") -> TokenPage:
    return TokenPage(url, f"<html><body>{body}</body></html>")


def taken(paths: tuple[PathRule, ...], page: TokenPage) -> list[str]:
    return [anchor.text for anchor in PageRules(paths).take(page)]


def learn_from(
    page: TokenPage, *texts: str, refused: tuple[str, ...] = (), context: Any = ()
) -> tuple[PathRule, ...]:
    anchors = {anchor.text: anchor for anchor in page.anchors}
    examples = [LinkExample(page, anchors[text]) for text in texts]
    examples += [LinkExample(page, anchors[text], wanted=False) for text in refused]
    return StepLearner(context).fit(examples).paths_


TWO_LISTS = (
    "<h2>Cast</h2><ul><li><a href=/a>Ann Lee</a></li><li><a href=/b>Bo Ray</a></li></ul>"
    "<h2>Crew</h2><ul><li><a href=/c>Cy Fox</a></li><li><a href=/d>Di Orr</a></li></ul>"
)


def test_one_link_stands_for_the_list_below_its_label() -> None:
    page = page_of(TWO_LISTS)
    assert taken(learn_from(page, "Cy Fox"), page) == ["Cy Fox", "Di Orr"]


def test_links_below_two_labels_stand_for_all_lists_of_that_form() -> None:
    page = page_of(TWO_LISTS)
    assert taken(learn_from(page, "Ann Lee", "Cy Fox"), page) == ["Ann Lee", "Bo Ray", "Cy Fox", "Di Orr"]


def test_a_refused_link_keeps_lists_apart() -> None:
    page = page_of(TWO_LISTS + "<h2>Thanks</h2><ul><li><a href=/e>Ed Poe</a></li></ul>")
    paths = learn_from(page, "Ann Lee", "Cy Fox", refused=("Ed Poe",))
    assert set(taken(paths, page)) == {"Ann Lee", "Bo Ray", "Cy Fox", "Di Orr"}


def test_a_list_of_other_length_or_none_at_all_is_handled_by_the_same_rule() -> None:
    paths = learn_from(page_of(TWO_LISTS), "Ann Lee")
    longer = (
        "<h2>Cast</h2><ul>" + "".join(f"<li><a href=/{n}>Person {n}</a></li>" for n in "abcdef") + "</ul>"
    )
    assert len(PageRules(paths).tokens(page_of(longer))) == 6
    assert PageRules(paths).tokens(page_of("<h2>Cast</h2><ul></ul><h2>Crew</h2><a href=/x>Xi Wu</a>")) == []
    assert not PageRules(paths).covers(page_of("<p>Nothing here.</p>"))


def test_an_entry_of_a_menu_is_told_by_its_text() -> None:
    def menu(n: Any) -> Any:
        entries = "".join(f"<li><a href=/{n}/{e.lower()}>{e}</a></li>" for e in ("Home", "Cast", "Reviews"))
        return page_of(f"<nav><ul>{entries}</ul></nav><h1>Film {n}</h1>", f"http://a.example/{n}")

    pages = [menu(n) for n in range(4)]
    paths = learn_from(pages[0], "Cast", context=pages[1:])
    assert [taken(paths, page) for page in pages] == [["Cast"]] * 4


def test_an_entry_that_leads_to_one_page_from_everywhere_stands_for_its_list() -> None:
    def film(n: int) -> TokenPage:
        genres = ("Drama", "Crime", "War")[: 1 + n % 3]
        links = "".join(f"<li><a href=/{genre}>{genre}</a></li>" for genre in genres)
        return page_of(f"<h1>Film {n}</h1><ul class=genres>{links}</ul>", f"http://a.example/{n}")

    pages = [film(n) for n in range(9)]
    paths = learn_from(pages[2], "Drama", context=pages)
    assert taken(paths, pages[8]) == ["Drama", "Crime", "War"]


def test_classes_that_tell_content_are_not_looked_at() -> None:
    """The class of each talk names its track, and the one on the example page is on no other."""

    def speaker(n: int) -> TokenPage:
        talk = f"<li><a class='talk track-{'abcdefghi'[n]}' href=/t{n}>Talk {n}</a></li>"
        home = "<li><a class=home href=/>Home</a></li>"
        return page_of(f"<ul>{home}</ul><h1>Name {n}</h1><ul>{talk}</ul>", f"http://a.example/{n}")

    pages = [speaker(n) for n in range(9)]
    paths = learn_from(pages[0], "Talk 0", context=pages[1:8])
    assert [taken(paths, page) for page in pages] == [[f"Talk {n}"] for n in range(9)]
    assert PathRule.from_json(paths[0].to_json()) == paths[0]


def test_classes_that_tell_parts_of_a_list_apart_are_looked_at() -> None:
    def article(n: int) -> TokenPage:
        earlier = f"<a class='turn turn-back' href=/{n - 1}>Earlier {n}</a>" if n else ""
        later = f"<a class='turn turn-on' href=/{n + 1}>Later {n}</a>" if n < 8 else ""
        return page_of(f"<h1>Article {n}</h1><nav>{earlier}{later}</nav>", f"http://a.example/{n}")

    pages = [article(n) for n in range(9)]
    paths = learn_from(pages[0], "Later 0", context=pages)
    assert [taken(paths, page) for page in pages[:8]] == [[f"Later {n}"] for n in range(8)]
    assert taken(paths, pages[8]) == []


def test_the_start_of_a_trail_of_crumbs_is_no_member_of_it() -> None:
    def place(n: int) -> TokenPage:
        town = ("Ulm", "Bonn", "Kiel")[n % 3]
        crumbs = f"<nav class=crumbs><a href=/>Home</a> › <a href=/{town}/>{town}</a></nav>"
        return page_of(f"{crumbs}<h1>Place {n}</h1>", f"http://a.example/place-{n}/")

    pages = [place(n) for n in range(9)]
    paths = learn_from(pages[0], "Ulm", context=pages)
    assert [taken(paths, page) for page in pages[:3]] == [["Ulm"], ["Bonn"], ["Kiel"]]


def test_a_label_in_singular_and_plural_is_one_label() -> None:
    def speaker(n: int) -> TokenPage:
        talks = "".join(f"<p><a href=/t{n}{m}>Talk {n}{m}</a></p>" for m in range(1 + n % 2))
        label = "His Talks" if n % 2 else "His Talk"
        news = "<div><h2>News</h2><p><a href=/n>New</a></p></div>"
        return page_of(f"<h1>Name {n}</h1><div><h2>{label}</h2>{talks}</div>{news}", f"http://a.example/{n}")

    pages = [speaker(n) for n in range(8)]
    paths = learn_from(pages[1], "Talk 10", context=pages[2:])
    assert taken(paths, pages[0]) == ["Talk 00"]
    assert taken(paths, pages[3]) == ["Talk 30", "Talk 31"]


def test_links_in_running_text_are_told_by_a_class_of_their_own() -> None:
    def term(name: str) -> str:
        return f"<a class=term href=/{name}>{name}</a>"

    page = page_of(
        f"<p>Of {term('one')} and <a href=/x>other</a> things.</p><ul><li>{term('two')}</li></ul>"
        f"<table><tr><td><b>{term('three')}</b></td></tr></table><dl><dd><i>{term('four')}</i>: more</dd></dl>"
    )
    assert taken(learn_from(page, "one", "two", "three"), page) == ["one", "two", "three", "four"]


def test_two_templates_are_learned_as_a_disjunction() -> None:
    table = page_of(
        "<table><tr><th>Cast</th><td><a href=/a>Ann Lee</a></td></tr></table>", "http://a.example/t"
    )
    block = page_of("<div class=people><span>With <a href=/b>Bo Ray</a></span></div>", "http://a.example/d")
    examples = [LinkExample(table, table.anchors[0]), LinkExample(block, block.anchors[0])]
    paths = StepLearner().fit(examples).paths_
    assert len(paths) == 2
    assert taken(paths, table) == ["Ann Lee"]
    assert taken(paths, block) == ["Bo Ray"]


@given(st.text(alphabet="<>/a=\"' bhref!-li&;x1", max_size=200))
def test_malformed_markup_never_fails(text: Any) -> None:
    page = page_of(text + '<ul><li><a href="/x">Ann Lee</a></li></ul>')
    examples = [LinkExample(page, anchor) for anchor in page.anchors[-1:]]
    if examples:
        rules = PageRules(StepLearner().fit(examples).paths_)
        assert examples[0].anchor.token in [anchor.token for anchor in rules.take_all(page)] or page.anchors
    _ = page.tree.elements, title_words(page)


@given(
    st.lists(st.sampled_from(["Ann Lee", "Bo Ray", "Cy Fox", "Di Orr"]), min_size=1, unique=True), st.data()
)
def test_whatever_member_is_marked_the_whole_list_is_taken(names: Any, data: Any) -> None:
    items = "".join(f"<li><a href='/{n.split()[0]}'>{n}</a></li>" for n in names)
    page = page_of(f"<p><a href=/>Home</a></p><h2>Cast</h2><ul>{items}</ul><p><a href=/z>Terms</a></p>")
    marked = data.draw(st.sampled_from(names))
    assert taken(learn_from(page, marked), page) == names


# Messages


PAGES = {"http://a.example/1": TWO_LISTS, "http://a.example/2": "<p>no links</p>"}


def small(url: Any) -> Any:
    return page_of(PAGES[url], url) if url in PAGES else None


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([], "no example to learn from"),
        (
            [example_of(["http://a.example/2", "http://a.example/a"], name="Line 3")],
            "Line 3: there is no link to",
        ),
        (
            [example_of(["http://a.example/9", "http://a.example/a"], name="Line 4")],
            "Line 4: the page .* cannot be",
        ),
        (
            [
                example_of(["http://a.example/1", "http://a.example/a"], name="Line 1"),
                example_of(["http://a.example/1", "http://a.example/a"], wanted=False, name="Line 2"),
            ],
            "Line 2 says that .* Line 1 says",
        ),
        (
            [
                example_of(["http://a.example/1", "http://a.example/a"], name="Line 1"),
                example_of(
                    ["http://a.example/1", "http://a.example/b", "http://a.example/c"],
                    wanted=False,
                    name="Line 2",
                ),
            ],
            "Line 2 says that a link does not belong after 1 others, but no example .* more than 1 links",
        ),
    ],
)
def test_examples_that_cannot_be_learned_from_are_named(examples: Any, message: Any) -> None:
    with pytest.raises(TeachingError, match=message):
        learn_chains(examples, small)
