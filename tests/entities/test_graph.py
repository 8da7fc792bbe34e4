"""The consensus graph: resolution, reconciliation, splits and merges, and its value for a workload."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.entities.graph import Claim, ConsensusGraph, Description, doubt, relationships
from wayhound.entities.workload import (
    AskedQuery,
    GraphValue,
    Workload,
    entity_value,
    graph_value,
    ranked_value,
    read_workload,
)
from wayhound.errors import UsageError
from wayhound.record_kinds import KINDS

KIND = KINDS["restaurant"]


def described(key: str, *, source: str = "", confidence: float = 0.9, **fields: str) -> Description:
    claims = (Claim(name, text, confidence, key, source=source or key) for name, text in fields.items())
    return Description(key, tuple(claims))


JOE_A = described("a", name="Joe's Shanghai", phone="+12125551234", address="9 Pell St, New York, NY 10013")
JOE_B = described(
    "b", name="Joe's Shanghai Restaurant", phone="+12125551234", address="9 Pell Street, New York, NY"
)
OTHER = described("c", name="Joe's Shanghai", phone="+17185550000", address="136 37th Ave, Queens, NY 11354")


def test_two_descriptions_of_one_restaurant_become_one_entity() -> None:
    graph = ConsensusGraph(KIND)
    assert graph.add(JOE_A) == graph.add(JOE_B)
    assert graph.entities[1].types == {"restaurant"}


def test_restaurants_of_a_chain_stay_apart() -> None:
    graph = ConsensusGraph(KIND)
    assert graph.add(JOE_A) != graph.add(OTHER)


def test_a_split_holds_when_the_page_is_read_again() -> None:
    graph = ConsensusGraph(KIND)
    first = graph.add(JOE_A)
    graph.add(JOE_B)
    second = graph.split(first, ["b"])
    assert graph.entity_of("a") != graph.entity_of("b") == second
    graph.add(JOE_B)
    assert graph.entity_of("a") != graph.entity_of("b")


def test_a_merge_holds_when_the_page_is_read_again() -> None:
    graph = ConsensusGraph(KIND)
    merged = graph.merge(graph.add(JOE_A), graph.add(OTHER))
    assert graph.entity_of("a") == graph.entity_of("c") == merged
    graph.add(OTHER)
    assert graph.entity_of("a") == graph.entity_of("c")
    assert len(graph) == 1


def test_a_description_read_again_replaces_the_old_one() -> None:
    graph = ConsensusGraph(KIND)
    graph.add(JOE_A)
    entity = graph.add(described("a", name="Joe's Shanghai", phone="+12125559999"))
    assert graph.values(entity) == {"name": ["Joe's Shanghai"], "phone": ["+12125559999"]}


def test_the_value_that_more_and_better_sources_claim_wins_with_its_alternatives_kept() -> None:
    graph = ConsensusGraph(KIND)
    pages = (("a", "+12125551234"), ("b", "+12125551234"), ("c", "+12125550000"))
    for key, phone in pages:
        entity = graph.add(
            described(key, name="Blue Door", address="1 Main St, Austin, TX 78701", phone=phone)
        )
    values = graph.consensus(entity)["phone"]
    assert [value.text for value in values] == ["+12125551234", "+12125550000"]
    assert values[0].probability > values[1].probability
    assert {claim.url for claim in values[0].claims} == {"a", "b"}


def test_an_entity_is_less_in_doubt_with_every_source_that_agrees() -> None:
    graph = ConsensusGraph(KINDS["restaurant"])
    doubts = []
    for number in range(3):
        claims = (
            Claim("name", "Blue Door", 0.9, source=f"{number}.example"),
            Claim("phone", "+15125550123", 0.6, source=f"{number}.example"),
        )
        doubts.append(doubt(graph.consensus(graph.add(Description(str(number), claims)))))
    assert 1 > doubts[0] > doubts[1] > doubts[2] > 0


def test_a_source_that_others_contradict_loses_reliability() -> None:
    graph = ConsensusGraph(KIND)
    for n in range(6):
        for source in ("good", "fine", "wrong"):
            phone = f"+1212555{n:04}" if source != "wrong" else f"+1646555{n:04}"
            name, address = f"House {n}x{n}", f"{n + 1} Main St, Austin, TX 7870{n}"
            graph.add(described(f"{source}{n}", source=source, name=name, phone=phone, address=address))
    reliability = graph.learn_reliability()
    assert reliability["wrong"] < reliability["good"]


def test_several_values_of_one_source_do_not_count_against_it() -> None:
    graph = ConsensusGraph(KINDS["organisation"])
    emails = tuple(
        Claim("email", f"{name}@acme.example", 0.9, source="acme") for name in ("info", "sales", "jobs")
    )
    entity = graph.add(Description("acme", (Claim("name", "Acme", 0.9, source="acme"), *emails)))
    graph.add(described("other", name="Blum", source="blum"))
    few = graph.consensus(entity, graph.learn_reliability())["name"][0].probability
    assert few == graph.consensus(entity)["name"][0].probability


def test_relationships_have_a_source_and_may_lead_to_an_entity_of_another_kind() -> None:
    firms, people = ConsensusGraph(KINDS["organisation"]), ConsensusGraph(KINDS["person"])
    acme = firms.add(described("acme", name="Acme Ltd", phone="+12125551234", part_of="Mega Corp"))
    mega = firms.add(described("mega", name="Mega Corp.", people="Bo Ray"))
    ann = people.add(described("ann", name="Ann Lee", works_for="ACME"))
    graphs = {"organisation": firms, "person": people}
    found = {
        (one.entity, one.label): one for graph in graphs.values() for one in relationships(graph, graphs)
    }
    assert found[acme, "part_of"].target == ("organisation", mega)
    assert found[ann, "works_for"].target == ("organisation", acme)
    assert found[ann, "works_for"].claim.url == "ann"
    assert found[mega, "people"].target is None  # nobody of that name is known
    assert found[acme, "phone"].target is None
    assert found[acme, "phone"].claim.text == "+12125551234"


def test_a_name_that_several_entities_have_leads_to_the_one_of_the_same_domain() -> None:
    graph = ConsensusGraph(KINDS["organisation"])
    for number, domain in enumerate(("one.example", "two.example")):
        claims = Claim("name", "Press Office"), Claim("phone", f"+1212555000{number}")
        graph.add(Description(domain, claims, domain))
    assert graph.named("Press Office") is None
    assert graph.named("Press Office", "two.example") == graph.entity_of("two.example")


# Value


def test_values_that_a_query_names_do_not_count() -> None:
    values = {"name": ["Red Iguana"], "city": ["Salt Lake City"], "phone": ["+1801"]}
    assert entity_value(values, AskedQuery("red iguana salt lake city")) == 1.0  # the phone
    assert entity_value(values, AskedQuery("red iguana")) == 2.0


def test_each_further_value_of_a_relationship_is_worth_less() -> None:
    assert entity_value({"cuisine": ["Thai", "Lao", "Chinese"]}, AskedQuery("x"), beta=2.0) == 1 + 0.5 + 0.25


def test_each_further_entity_is_worth_less_for_categories_alone_best_first() -> None:
    assert ranked_value([1.0, 4.0, 2.0], "instance") == 7.0
    assert ranked_value([1.0, 4.0, 2.0], "category", alpha=2.0) == 4.0 + 1.0 + 0.25


def test_a_query_asked_twice_counts_twice() -> None:
    entities = [{"name": ["Amber"], "phone": ["+1"]}]
    once, twice = (Workload.of([AskedQuery("amber")] * n) for n in (1, 2))
    assert graph_value(entities, twice) == 2 * graph_value(entities, once) > 0


def test_a_shorter_name_is_no_answer_to_a_longer_query() -> None:
    entities = [{"name": ["Amber"], "cuisine": ["Thai"]}]
    assert graph_value(entities, Workload.of([AskedQuery("amber india")])) == 0


WORDS = ("blue", "door", "thai", "austin", "casa", "luna")
SOME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
ENTITIES = st.dictionaries(
    st.sampled_from(["name", "cuisine", "address"]), st.lists(SOME, min_size=1, max_size=3, unique=True)
)
QUERIES = st.builds(AskedQuery, SOME, st.sampled_from(["instance", "category"]), st.integers(1, 5).map(float))
CHANGES = st.lists(st.tuples(st.integers(0, 5), st.none() | ENTITIES), max_size=15)


@settings(max_examples=150, deadline=None)
@given(st.lists(QUERIES, max_size=8), CHANGES)
def test_the_value_kept_up_to_date_equals_the_full_computation(
    queries: list[AskedQuery], changes: list[tuple[int, dict[str, list[str]] | None]]
) -> None:
    workload = Workload.of(queries)
    kept, entities = GraphValue(workload, alpha=1.5, beta=3.0, c=0.5), {}
    for entity, values in changes:
        kept.update(entity, values)
        entities[entity] = values
        present = [values for values in entities.values() if values]
        assert kept.total == pytest.approx(
            graph_value(present, workload, alpha=1.5, beta=3.0, c=0.5), abs=1e-9
        )


def test_decay_must_reduce() -> None:
    with pytest.raises(UsageError, match="greater than 1"):
        GraphValue(Workload(), alpha=1.0)


def test_a_workload_is_read_with_and_without_kinds() -> None:
    lines = [
        "kind\tcount\tquery",
        "instance\t3\tamber",
        "category\t2\tthai austin",
        "best restaurants austin",
        "",
        "casa luna",
    ]
    workload = read_workload(lines, ["restaurant"])
    assert [(query.text, query.kind, query.count) for query in workload.queries] == [
        ("amber", "instance", 3.0), ("thai austin", "category", 2.0), ("best restaurants austin", "category", 1.0),
        ("casa luna", "instance", 1.0),
    ]  # fmt: skip
    assert read_workload([]).queries == ()


@pytest.mark.parametrize(
    "line",
    [
        "instance\tmany\tamber",
        "thing\t1\tamber",
        "a\tb",
        "instance\tinf\tamber",
        "instance\t-1\tamber",
        "category\tnan\tamber",
    ],
)
def test_a_malformed_workload_names_the_line(line: str) -> None:
    with pytest.raises(UsageError, match="Line 2"):
        read_workload(["amber", line])
