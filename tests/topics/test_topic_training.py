from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wayhound.errors import ModelError, UsageError
from wayhound.topics.documents import CitationLinks, TopicDocument
from wayhound.topics.model import PlacementThresholds, Placer, TopicModel
from wayhound.topics.suggest import doubtful_keywords, new_keywords, new_topics
from wayhound.topics.training import TopicTraining, train
from wayhound.topics.tree import TopicTree, parse_tree

TREE = parse_tree("Animals\n  Cats: cat\n  Dogs: dog\nPlants\n  Trees: tree\n  Herbs: herb\n")
WORDS = {
    "Cats": "purr whisker claw sofa mouse kitten fur",
    "Dogs": "bark leash bone fetch puppy tail fur",
    "Trees": "bark leaf root branch forest timber oak",
    "Herbs": "basil leaf kitchen scent pot mint thyme",
}
KEYWORDS = {"Cats": "cat", "Dogs": "dog", "Trees": "tree", "Herbs": "herb"}


def documents(n: int = 240, seed: int = 0) -> list[TopicDocument]:
    """Return documents of four topics, labelled; every third contains its keyword."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(n):
        name = list(WORDS)[number % 4]
        words = list(rng.choice(WORDS[name].split(), 6))
        if number % 3 == 0:
            words.append(KEYWORDS[name])
        made.append(replace(TopicDocument.from_text(str(number), " ".join(words)), label=name))
    return made


def trained(
    tree: TopicTree = TREE, corpus: list[TopicDocument] | None = None, **more: object
) -> TopicTraining:
    return train(tree, corpus or documents(), np.random.default_rng(0), **more)  # type: ignore[arg-type]


def right(training: TopicTraining, corpus: list[TopicDocument]) -> float:
    pairs = zip(training.placements, corpus, strict=True)
    return float(np.mean([placed.leaf[-1:] == (document.label,) for placed, document in pairs]))


def test_documents_without_a_keyword_find_their_topic() -> None:
    corpus = documents()
    training = trained(corpus=corpus)
    assert training.matches.coverage == pytest.approx(1 / 3)
    assert right(training, corpus) > 0.95


def test_the_same_seed_gives_the_same_placements() -> None:
    assert trained().placements == trained().placements


def test_a_new_document_is_placed_with_the_words_that_decided() -> None:
    placed = trained().model.place(TopicDocument.from_text("new", "kittens purr on the sofa"))
    assert placed.topic == ("Animals", "Cats")
    assert {word for word, _ in placed.words} == {"kitten", "purr", "sofa"}
    assert all(weight > 0 for _, weight in placed.words)


def test_a_document_of_the_collection_is_placed_alike_alone() -> None:
    corpus = documents()
    training = trained(corpus=corpus)
    for number in (0, 1, 2):
        alone = training.model.place(corpus[number])
        assert alone.topic == training.placements[number].topic
        assert alone.confidence == pytest.approx(training.placements[number].confidence)


def test_an_empty_document_fits_nowhere() -> None:
    corpus = [*documents(), TopicDocument("empty", {}), TopicDocument.from_text("foreign", "zzz qqq")]
    training = trained(corpus=corpus)
    for placed in (*training.placements[-2:], training.model.place(TopicDocument("later", {}))):
        assert (placed.topic, placed.leaf, placed.words) == ((), (), ())


def test_a_class_that_no_document_speaks_for_stays_empty_and_is_told() -> None:
    tree = parse_tree(
        "Animals\n  Cats: cat\n  Dogs: dog\n  Fish: fish\nPlants\n  Trees: tree\n  Herbs: herb\n"
    )
    training = trained(tree)
    assert [leaf.name for leaf in training.empty] == ["Fish"]
    assert training.history["empty"] == ["Animals › Fish"]
    assert all(placed.leaf != ("Animals", "Fish") for placed in training.placements)


def test_no_keyword_in_any_document_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="No keyword of the tree occurs in any document"):
        trained(parse_tree("A: aardvark\nB: baboon\n"))
    with pytest.raises(UsageError, match="contain no word to learn from"):
        train(TREE, [], np.random.default_rng(0))
    with pytest.raises(UsageError, match="contain no word to learn from"):
        trained(parse_tree("A: the\nB: x\n"), [TopicDocument.from_text("1", "the x")])


def test_one_document_is_enough() -> None:
    training = trained(corpus=[TopicDocument.from_text("1", "a cat")])
    assert training.placements[0].leaf == ("Animals", "Cats")


def test_a_keyword_of_two_topics_goes_to_the_first_where_nothing_else_tells() -> None:
    training = trained(
        parse_tree("A: cat\nB: cat\n"), [TopicDocument.from_text(str(n), "cat") for n in range(9)]
    )
    assert {placed.leaf for placed in training.placements} == {("A",)}


def test_a_tree_of_one_level_works() -> None:
    corpus = documents()
    training = trained(parse_tree("Cats: cat\nDogs: dog\nTrees: tree\nHerbs: herb\n"), corpus)
    assert right(training, corpus) > 0.9


def test_a_tree_of_a_single_topic_takes_what_there_is() -> None:
    training = trained(parse_tree("Cats: cat\n"))
    assert {placed.leaf for placed in training.placements} == {("Cats",)}


def test_equal_names_under_different_parents_are_different_topics() -> None:
    tree = parse_tree("Wild\n  Cats: forest\n  Dogs: bone\nTame\n  Cats: sofa\n  Dogs: leash\n")
    topics = {placed.leaf for placed in trained(tree).placements}
    assert {("Wild", "Cats"), ("Tame", "Cats")} <= topics


def test_text_in_other_languages_is_placed_too() -> None:
    tree = parse_tree("Katzen: katze\nBäume: bäume\n木: 樹木\n")
    texts = [
        "die katze schläft im körbchen",
        "viele bäume stehen im wald",
        "körbchen fürs kätzchen",
        "樹木の葉",
    ] * 6
    corpus = [TopicDocument.from_text(str(number), text) for number, text in enumerate(texts)]
    placed = trained(tree, corpus).placements
    assert [one.leaf for one in placed[:4]] == [("Katzen",), ("Bäume",), ("Katzen",), ("木",)]


def test_a_correction_pins_its_document_and_teaches_the_others() -> None:
    corpus = documents()
    odd = [TopicDocument.from_text(f"odd{number}", "purr gizmo gadget sprocket") for number in range(12)]
    before = trained(corpus=corpus + odd)
    assert before.placements[-1].leaf == ("Animals", "Cats")
    chosen = {f"odd{number}": ("Plants", "Herbs") for number in range(6)}
    after = trained(corpus=corpus + odd, corrections=chosen)
    pinned = after.placements[-12]
    assert (pinned.topic, pinned.confidence, pinned.corrected) == (("Plants", "Herbs"), 1.0, True)
    assert after.placements[-1].leaf == ("Plants", "Herbs")
    assert not after.placements[-1].corrected


def test_a_correction_to_an_interior_topic_stays_there() -> None:
    after = trained(corrections={"5": ("Animals",)})
    assert after.placements[5].topic == ("Animals",)


def test_a_correction_to_a_topic_that_is_gone_is_told() -> None:
    with pytest.raises(UsageError, match="no longer a topic of the tree"):
        trained(corrections={"5": ("Minerals",)})


def test_citations_place_a_document_without_words() -> None:
    corpus = [*documents(), TopicDocument("bare", {}, cites=("1", "5", "9", "13"))]
    training = trained(corpus=corpus, citations=CitationLinks.among(corpus))
    assert training.placements[-1].leaf == ("Animals", "Dogs")
    newcomer = training.model.place(TopicDocument("late", {}, cites=("2", "6", "10", "14")))
    assert newcomer.leaf == ("Plants", "Trees")


def test_strangers_are_told_from_the_others() -> None:
    rng = np.random.default_rng(3)
    strange = "granite basalt quartz marble flint slate".split()
    corpus = documents() + [
        TopicDocument.from_text(f"s{n}", " ".join(rng.choice(strange, 6))) for n in range(30)
    ]
    training = trained(corpus=corpus)
    outside = training.outside.sum(axis=1)
    assert outside[-30:].mean() > outside[:-30].mean() + 0.3
    suggested = new_topics(training, corpus)
    assert suggested
    assert set(suggested[0].documents) <= {f"s{n}" for n in range(30)}
    assert set(suggested[0].keywords) & set(strange)


def test_new_keywords_separate_their_topic() -> None:
    corpus = documents()
    added = new_keywords(trained(corpus=corpus), corpus, per_topic=3)
    of_cats = [new.keyword for new in added if new.topic == ("Animals", "Cats")]
    assert of_cats
    assert set(of_cats) <= {*WORDS["Cats"].split(), *_pairs("Cats")}
    assert "cat" not in of_cats


def _pairs(name: str) -> set[str]:
    words = [*WORDS[name].split(), KEYWORDS[name]]
    return {f"{left} {after}" for left in words for after in words}


def test_a_keyword_that_stands_in_the_documents_of_another_topic_is_doubted() -> None:
    tree = parse_tree(
        "Animals\n  Cats: cat, branch\n  Dogs: dog\nPlants\n  Trees: tree, forest, oak\n  Herbs: herb\n"
    )
    corpus = documents()
    doubted = doubtful_keywords(trained(tree, corpus), corpus)
    assert [(doubt.keyword, doubt.instead) for doubt in doubted] == [("branch", ("Plants", "Trees"))]


def test_a_model_survives_being_turned_into_arrays() -> None:
    corpus = documents()
    model = trained(corpus=corpus, citations=CitationLinks.among(corpus, [("0", "4"), ("4", "8")])).model
    again = TopicModel.from_arrays(*model.to_arrays())
    for document in (
        corpus[0],
        TopicDocument.from_text("x", "mint and thyme", cites=["4"]),
        TopicDocument("y", {}),
    ):
        before, after = model.place(document), again.place(document)
        assert (before.topic, before.leaf, before.second) == (after.topic, after.leaf, after.second)
        assert before.confidence == pytest.approx(after.confidence, abs=1e-4)


def test_arrays_that_do_not_fit_together_are_refused() -> None:
    arrays, meta = trained().model.to_arrays()
    with pytest.raises(ModelError, match="do not fit together"):
        TopicModel.from_arrays({**arrays, "words": arrays["words"][1:]}, meta)
    with pytest.raises(ModelError, match=r"is damaged .*Train it again"):
        TopicModel.from_arrays({}, meta)
    with pytest.raises(ModelError, match=r"is damaged .*Train it again"):
        TopicModel.from_arrays(arrays, {**meta, "tree": "  broken"})


def test_a_document_goes_down_only_as_far_as_it_is_likely() -> None:
    placer = Placer(TREE, PlacementThresholds(descend=0.6, second=0.3))
    none = np.zeros(3)
    leaf = placer.place("d", np.array([0.7, 0.1, 0.1, 0.1]), none)
    assert leaf.topic == ("Animals", "Cats")
    assert leaf.confidence == pytest.approx(0.7)
    branch = placer.place("d", np.array([0.45, 0.4, 0.1, 0.05]), none)
    assert branch.topic == ("Animals",)
    assert branch.confidence == pytest.approx(0.85)
    assert (branch.leaf, branch.second) == (("Animals", "Cats"), ("Animals", "Dogs"))
    assert placer.place("d", np.full(4, 0.25), none).topic == ()


def test_the_best_leaves_are_named_only_where_none_is_likely_enough() -> None:
    placer = Placer(TREE, PlacementThresholds())
    sure = placer.place("d", np.array([0.7, 0.1, 0.1, 0.1]), np.zeros(3))
    assert sure.best == ()
    unsure = placer.place("d", np.array([0.4, 0.3, 0.28, 0.02]), np.zeros(3))
    assert [path[-1] for path, _ in unsure.best] == ["Cats", "Dogs", "Trees"]
    assert [share for _, share in unsure.best] == [0.4, 0.3, 0.28]
    stranger = placer.place("d", np.array([0.9, 0.1, 0, 0]), np.array([0.8, 0.0, 0.0]))
    assert stranger.best == ((("Animals", "Cats"), 0.18),)


def test_what_lies_outside_takes_its_share() -> None:
    placer = Placer(TREE, PlacementThresholds())
    stranger = placer.place("d", np.array([0.9, 0.1, 0, 0]), np.array([0.8, 0.0, 0.0]))
    assert stranger.topic == ()
    assert stranger.outside == pytest.approx(0.8)
    some_animal = placer.place("d", np.array([0.9, 0.1, 0, 0]), np.array([0.0, 0.6, 0.0]))
    assert some_animal.topic == ("Animals",)


def test_doubt_about_the_branch_is_not_doubt_about_the_tree() -> None:
    placer, torn = Placer(TREE, PlacementThresholds()), np.array([0.3, 0.25, 0.25, 0.2])
    branch = placer.place("d", torn, np.array([0.4, 0.0, 0.0]), belongs=True)
    assert branch.topic == ("Animals",)
    assert branch.confidence == pytest.approx(0.33)
    assert placer.place("d", torn, np.array([0.4, 0.0, 0.0])).topic == ()
    stranger = placer.place("d", torn, np.array([0.6, 0.0, 0.0]), belongs=True)
    assert stranger.topic == ()
    assert stranger.confidence == pytest.approx(0.6)


def few_documents() -> list[TopicDocument]:
    """Return documents too few to learn from, which share all words but their keywords."""
    texts = ["cat", "dog dog", "tree", "herb", "cat cat cat cat dog"]
    return [
        TopicDocument.from_text(str(number), f"{text} with fur on the sofa, a leaf and some scent")
        for number, text in enumerate(texts)
    ]


def test_in_a_small_collection_the_keywords_decide() -> None:
    training = trained(corpus=few_documents())
    assert training.model.keyword_weight > 0.9
    topics = [placed.topic[-1:] for placed in training.placements]
    assert topics == [("Cats",), ("Dogs",), ("Trees",), ("Herbs",), ("Cats",)]


def test_keywords_of_several_branches_leave_a_document_in_one_of_them() -> None:
    """In a tree whose field has no words, a document without any keyword may still be a stranger."""
    tree = parse_tree("Cats: cat\nDogs: dog\nTrees: tree\nHerbs: herb\n")
    torn = TopicDocument.from_text("torn", "cat dog tree herb on the sofa")
    blank = TopicDocument.from_text("blank", "fur on the sofa, a leaf and some scent")
    training = trained(tree, [*few_documents(), torn, blank])
    placed = {each.document: each for each in training.placements}
    assert placed["torn"].topic
    assert placed["torn"].confidence < 0.5
    assert placed["blank"].topic == ()
    assert [training.model.place(each).topic for each in (torn, blank)] == [placed["torn"].topic, ()]


def test_in_a_large_collection_what_was_learned_decides() -> None:
    assert trained(corpus=documents(2400)).model.keyword_weight < 0.05


def test_a_new_document_is_placed_by_its_keywords_too() -> None:
    model = trained(corpus=few_documents()).model
    kept = TopicModel.from_arrays(*model.to_arrays())
    newcomer = TopicDocument.from_text("new", "A herb on the sofa")
    assert kept.place(newcomer).topic == model.place(newcomer).topic == ("Plants", "Herbs")


def test_a_model_without_what_its_keywords_are_worth_places_by_words_alone() -> None:
    arrays, meta = trained().model.to_arrays()
    older = {name: array for name, array in arrays.items() if name != "keyword_worth"}
    del meta["keyword_weight"]
    model = TopicModel.from_arrays(older, meta)
    assert model.keyword_weight == 0.0
    assert model.place(TopicDocument.from_text("new", "bark leash bone fetch")).leaf == ("Animals", "Dogs")


def test_a_model_with_other_keywords_than_its_tree_is_refused() -> None:
    arrays, meta = trained().model.to_arrays()
    with pytest.raises(ModelError, match="damaged"):
        TopicModel.from_arrays(arrays | {"keyword_worth": np.ones(1)}, meta)
