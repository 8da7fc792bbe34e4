from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wayhound.errors import UsageError
from wayhound.record import Record, Value
from wayhound.topics.documents import (
    CitationLinks,
    TopicDocument,
    document_from_record,
    parse_document,
    read_citations,
    read_documents,
)
from wayhound.topics.rules import KeywordMatches, KeywordRule, KeywordRules
from wayhound.topics.tree import parse_tree
from wayhound.topics.vocabulary import TopicVocabulary, scale_weights


def parsed(**fields: object) -> TopicDocument:
    return parse_document(json.dumps({"id": "1", **fields}))


def test_running_text_keeps_its_order_and_counts_its_words() -> None:
    document = parsed(title="Neural Networks", abstract="Networks of neurons.")
    assert document.bag == {"neural": 1, "network": 2, "of": 1, "neuron": 1}
    assert document.sequence[:3] == ("neural", "network", "")


def test_listed_words_have_no_order() -> None:
    document = parsed(title_words=["Genetic", "ALGORITHMS"], label="ga")
    assert document.bag == {"genetic": 1, "algorithm": 1}
    assert document.sequence == ()
    assert document.label == "ga"


def test_a_weighted_bag_is_scaled_so_that_a_word_weighs_one_on_average() -> None:
    document = parsed(words={"learning": 0.3, "theory": 0.1, "zero": 0})
    assert document.bag == pytest.approx({"learning": 1.5, "theory": 0.5})


def test_an_empty_document_is_a_document() -> None:
    assert parsed().bag == {}
    assert parsed(title=None, abstract="").bag == {}
    assert parsed(words={}).bag == {}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "is not JSON"),
        ("[1]", "must be a JSON object with an 'id'"),
        ('{"title": "x"}', "must be a JSON object with an 'id'"),
        ('{"id": 1, "title": 7}', "'title' must be text"),
        ('{"id": 1, "words": {"a": "b"}}', "must map each word to a number"),
        ('{"id": 1, "words": {"a": -1}}', "must map each word to a number"),
        ('{"id": 1, "words": {"a": NaN}}', "must map each word to a number"),
        ('{"id": 1, "title_words": [1]}', "must be a list of texts"),
        ('{"id": 1, "cites": "x"}', "must be a list of texts"),
    ],
)
def test_a_line_that_is_no_document_is_refused_in_a_sentence(line: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_document(line)


def test_a_file_is_read_and_twins_are_refused_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text('{"id": 1, "title": "a cat"}\n\n{"id": "2"}\n', "utf-8")
    assert [document.id for document in read_documents(file)] == ["1", "2"]
    file.write_text('{"id": 1}\n{"id": "1"}\n', "utf-8")
    with pytest.raises(UsageError, match="line 2: the id '1' occurs twice"):
        read_documents(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not text in UTF-8"):
        read_documents(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_documents(tmp_path / "none")


def test_a_paper_record_gives_its_title_abstract_and_citations() -> None:
    fields = {
        "title": (Value("On Cats"),),
        "abstract": (Value("Cats sleep."),),
        "cites": (Value("7"), Value("8")),
    }
    document = document_from_record(Record("paper", "p", fields))
    assert document.bag["cat"] == 2
    assert (document.title, document.cites) == ("On Cats", ("7", "8"))


def test_the_vocabulary_leaves_out_rare_words_and_stop_words() -> None:
    bags = [{"cat": 1.0, "the": 1.0, "x": 1.0}, {"cat": 2.0, "dog": 1.0, "the": 1.0}]
    assert TopicVocabulary.from_bags(bags, 2).words == ("cat",)
    assert TopicVocabulary.from_bags(bags, 99).words == ("cat", "dog")  # too few documents: every word counts


def test_long_documents_weigh_no_more_than_the_longest_allowed() -> None:
    vocabulary = TopicVocabulary(["cat", "dog"])
    counts = vocabulary.counts([{"cat": 30.0, "dog": 10.0, "eel": 5.0}, {"dog": 1.0}, {}], max_words=10)
    assert counts.toarray() == pytest.approx(np.array([[7.5, 2.5], [0, 1], [0, 0]]))


def test_a_bag_of_nothing_stays_empty() -> None:
    assert scale_weights({"a": 0.0}) == {}


TREE = parse_tree("A\n  Nets: neural network, learning\n  Genes: genetic\nB: network\n")


def matched(document: TopicDocument) -> list[str]:
    rules = KeywordRules(TREE)
    return [rules.rules[number].keyword for number in rules.matching(document)]


def test_longer_phrases_come_first_then_the_order_of_the_file() -> None:
    assert [rule.keyword for rule in KeywordRules(TREE).rules] == [
        "neural network",
        "learning",
        "genetic",
        "network",
    ]
    assert matched(parsed(title="Learning in a neural network")) == ["neural network", "learning", "network"]


def test_a_phrase_must_stand_together_in_running_text() -> None:
    assert matched(parsed(title="Neural models of a network")) == ["network"]
    assert matched(parsed(title="A neural", abstract="network")) == ["network"]
    assert matched(parsed(title="neural nets and a neural network")) == ["neural network", "network"]


def test_without_order_a_phrase_needs_all_its_words() -> None:
    assert matched(parsed(title_words=["networks", "of", "neural"])) == ["neural network", "network"]


def test_the_first_match_decides_and_coverage_is_told() -> None:
    documents = [parsed(title="learning and genetic drift"), parsed(title="nothing known"), parsed()]
    matches = KeywordMatches.find(TREE, documents)
    assert matches.coverage == pytest.approx(1 / 3)
    assert matches.first().tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert KeywordMatches.find(TREE, []).coverage == 0


def test_votes_are_shared_and_rare_keywords_speak_louder() -> None:
    documents = [
        parsed(title="learning genetic"),
        parsed(title="learning"),
        parsed(title="learning"),
        parsed(),
    ]
    votes = KeywordMatches.find(TREE, documents).votes()
    rare, common = np.log(4 / 1), np.log(4 / 3)
    assert votes[0] == pytest.approx([common / (rare + common), rare / (rare + common), 0])
    assert votes.sum(axis=1) == pytest.approx([1, 1, 1, 0])


def test_a_keyword_in_every_document_still_labels_it() -> None:
    votes = KeywordMatches.find(TREE, [parsed(title="genetic")]).votes()
    assert votes[0] == pytest.approx([0, 1, 0])


def test_the_keyword_of_an_interior_topic_speaks_for_all_leaves_below() -> None:
    tree = parse_tree("A: animal\n  Cats: cat\n  Dogs: dog\nB: plant\n")
    votes = KeywordMatches.find(tree, [parsed(title="an animal")]).first()
    assert votes[0] == pytest.approx([0.5, 0.5, 0])


def test_citations_link_both_ways_and_know_papers_without_words() -> None:
    documents = [TopicDocument("a", {}, cites=("b", "x")), TopicDocument("b", {}, cites=("b",))]
    citations = CitationLinks.among(documents, [("x", "a"), ("a", "b")])
    rows = citations.rows(documents)
    assert rows == {"a": 0, "b": 1, "x": 2}
    assert citations.links(rows).toarray().tolist() == [[0, 1, 2], [1, 0, 0], [2, 0, 0]]


def test_a_citation_file_may_have_a_heading(tmp_path: Path) -> None:
    file = tmp_path / "c.tsv"
    file.write_text("citing\tcited\n1\t2\n3\t4\n", "utf-8")
    assert list(read_citations(file)) == [("1", "2"), ("3", "4")]
    file.write_text("1\t2\n1 2\n", "utf-8")
    with pytest.raises(UsageError, match="line 2: expected two ids"):
        list(read_citations(file))
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_citations(tmp_path / "none"))


def test_a_phrase_is_counted_in_its_order_and_a_bag_by_its_rarest_word() -> None:
    rule = KeywordRule(TREE.topics[0], "machine learning", ("machine", "learning"))
    text = TopicDocument.from_text("a", "Machine learning, or machines and learning", "Machine learning")
    assert rule.count(text) == 2
    assert rule.count(TopicDocument("b", {"machine": 5.0, "learning": 3.0})) == 3


def test_a_paper_is_also_what_its_references_are_about() -> None:
    document = document_from_record(
        Record("paper", "p", {"title": (Value("On walks"),)}), ["Genetic search", "Fuzzy sets"]
    )
    assert {"walk", "genetic", "fuzzy"} <= set(document.bag)
    assert ("search", "fuzzy") not in zip(document.sequence, document.sequence[1:], strict=False)
