from __future__ import annotations

import numpy as np
import pytest

from wayhound.errors import NotFitted
from wayhound.learn.arrays import TokenVocabulary


def test_tokens_of_one_group_alone_get_no_column_and_the_others_are_counted_once() -> None:
    sets = [{"people", "lise"}, {"people", "contact"}, {"contact", "people"}]
    words = TokenVocabulary(min_groups=2).fit(sets, ["a", "a", "b"])
    assert words.columns_ == {"contact": 0, "people": 1}
    rows = words.rows([{"people", "unheard"}, set(), {"people", "contact"}]).toarray()
    assert np.array_equal(rows, [[0, 1], [0, 0], [1, 1]])


def test_a_saved_vocabulary_gives_the_same_rows() -> None:
    fitted = TokenVocabulary(min_groups=1).fit([{"a", "b"}], ["site"])
    again = TokenVocabulary.from_tokens(list(fitted.columns_))
    assert np.array_equal(again.rows([{"b"}]).toarray(), fitted.rows([{"b"}]).toarray())


def test_use_before_fit_raises_not_fitted() -> None:
    with pytest.raises(NotFitted):
        TokenVocabulary().rows([{"a"}])


def test_a_vocabulary_keeps_tokens_of_several_sites() -> None:
    vocabulary = TokenVocabulary(2).fit([{"a", "b"}, {"a", "c"}, {"c"}], ["s1", "s2", "s2"])
    assert vocabulary.columns_ == {"a": 0}
    assert vocabulary.rows([{"a", "c"}, {"b"}]).toarray().tolist() == [[1.0], [0.0]]


def test_a_saved_vocabulary_has_the_same_columns() -> None:
    fitted = TokenVocabulary(1).fit([{"b", "a"}, {"c"}], ["s", "s"])
    again = TokenVocabulary.from_tokens(list(fitted.columns_))
    assert again.columns_ == fitted.columns_
    assert again.rows([{"c", "a"}]).toarray().tolist() == [[1.0, 0.0, 1.0]]
