"""Three ways to tell the labels of pages and links along a path: two fields (2.4.1, 2.4.2), and none.

A judge works on rows of tokens alone. Its belief goes along the path in logs: α (Eq. 6) for what is likely, δ
(Eq. 2) for the best labelling. Sections and equations are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wayhound.learn.chain import Floats, Ints, log_product
from wayhound.learn.crf import ChainCRF, Chains, Rules
from wayhound.learn.naive_bayes import softmax

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Belief:
    """log α and log δ over the states, each (states,): on a page after reading it, or ahead of reading it."""

    alpha: Floats
    delta: Floats


@dataclass(frozen=True, slots=True)
class LinkBeliefs:
    """The links of a page: how likely each label is, (n, labels), and the belief to read each target with."""

    chances: Floats
    alpha: Floats  # (n, states)
    delta: Floats

    def belief(self, number: int) -> Belief:
        return Belief(self.alpha[number], self.delta[number])


class Labeller(Protocol):
    """Tells labels along a path. Scores of rows come from `scores`, so that they can be kept."""

    def start(self) -> Belief: ...

    def page_scores(self, rows: csr_array) -> Floats:
        """(n, labels)."""
        ...

    def link_scores(self, rows: csr_array) -> Floats:
        """(n, whatever `links` takes)."""
        ...

    def page(self, belief: Belief, scores: Floats) -> Belief: ...

    def chances(self, belief: Belief) -> Floats:
        """How likely each label of a page that was read is, (labels,)."""
        ...

    def best(self, belief: Belief) -> int:
        """The label of the page on the best labelling of the path to it (Eq. 2)."""
        ...

    def links(self, belief: Belief, scores: Floats) -> LinkBeliefs: ...

    def page_weights(self) -> Floats:
        """What each token of a page says for each label, (tokens, labels)."""
        ...

    def link_weights(self) -> Floats:
        """The same for links."""
        ...

    def decode(self, pages: csr_array, links: csr_array) -> Ints:
        """The labels of a whole path of n pages and the n - 1 links between them, (n,)."""
        ...

    def arrays(self) -> Arrays: ...


def pair_rules(n: int) -> Rules:
    """Pages and links take turns, and a link of a label leads to a page of that label (2.4.2)."""
    allowed = np.zeros((2 * n, 2 * n), dtype=bool)
    allowed[:n, n:] = True
    allowed[n + np.arange(n), np.arange(n)] = True
    return Rules(allowed, np.arange(2 * n) < n, np.ones(2 * n, dtype=bool))


class _Telling:
    """What a belief says of the page that was read is the same for all."""

    def chances(self, belief: Belief) -> Floats:
        return np.asarray(softmax(belief.alpha[None])[0])

    def best(self, belief: Belief) -> int:
        return int(belief.delta.argmax())


class _AlongPath(_Telling):
    """In a field, a page adds to what was believed before it."""

    def page(self, belief: Belief, scores: Floats) -> Belief:
        """Only ratios matter (Eq. 7), so nothing may grow along the path."""
        alpha, delta = belief.alpha + scores, belief.delta + scores
        return Belief(alpha - alpha.max(), delta - delta.max())


@dataclass(frozen=True)
class PairedCrfLabeller(_AlongPath):
    """Two states a label: the first n are pages, the last n the links to them."""

    field: ChainCRF

    @property
    def n(self) -> int:
        return self.field.rules.n_states // 2

    def start(self) -> Belief:
        return Belief(self.field.log_starts[: self.n], self.field.log_starts[: self.n])

    def page_scores(self, rows: csr_array) -> Floats:
        return np.asarray(rows @ self.field.state_weights_[:, : self.n], dtype=np.float64)

    def link_scores(self, rows: csr_array) -> Floats:
        return np.asarray(rows @ self.field.state_weights_[:, self.n :], dtype=np.float64)

    def links(self, belief: Belief, scores: Floats) -> LinkBeliefs:
        steps = self.field.log_steps
        into, out = steps[: self.n, self.n :], np.diagonal(steps[self.n :, : self.n])
        alpha = log_product(belief.alpha[None], into) + scores
        delta = (belief.delta[:, None] + into).max(axis=0) + scores
        # the step from a link to its page has one way to go, but its weight may differ from label to label
        return LinkBeliefs(softmax(alpha), _shift(alpha + out), _shift(delta + out))

    def page_weights(self) -> Floats:
        return self.field.state_weights_[:, : self.n]

    def link_weights(self) -> Floats:
        return self.field.state_weights_[:, self.n :]

    def decode(self, pages: csr_array, links: csr_array) -> Ints:
        order = np.arange(pages.shape[0] + links.shape[0])
        rows = np.where(order % 2 == 0, order // 2, pages.shape[0] + order // 2)
        chains = Chains(_stacked(pages, links), np.array([len(order)]), rows=rows)
        return self.field.decode(chains)[::2]

    def arrays(self) -> Arrays:
        return {"state_weights": self.field.state_weights_, "step_weights": self.field.step_weights_}


@dataclass(frozen=True)
class EdgeCrfLabeller(_AlongPath):
    """One state a label; what a link says belongs to the step from label to label (2.4.1)."""

    field: ChainCRF

    @property
    def n(self) -> int:
        return self.field.rules.n_states

    def start(self) -> Belief:
        return Belief(self.field.log_starts, self.field.log_starts)

    def page_scores(self, rows: csr_array) -> Floats:
        return self.field.scores(rows)

    def link_scores(self, rows: csr_array) -> Floats:
        """The scores of every step, (n, labels · labels)."""
        flat = self.field.edge_weights_.reshape(rows.shape[1], -1)
        return np.asarray(rows @ flat + self.field.step_weights_.ravel(), dtype=np.float64)

    def links(self, belief: Belief, scores: Floats) -> LinkBeliefs:
        """A link whose page is not read yet is a step whose end shows nothing."""
        steps = scores.reshape(-1, self.n, self.n)
        ways = belief.alpha[:, None] + steps
        top = ways.max(axis=1)
        alpha = top + np.log(np.exp(ways - top[:, None]).sum(axis=1))
        delta = (belief.delta[:, None] + steps).max(axis=1)
        return LinkBeliefs(softmax(alpha), _shift(alpha), _shift(delta))

    def page_weights(self) -> Floats:
        return self.field.state_weights_

    def link_weights(self) -> Floats:
        return np.asarray(self.field.edge_weights_.mean(axis=1))

    def decode(self, pages: csr_array, links: csr_array) -> Ints:
        first = csr_array((1, links.shape[1]))
        chains = Chains(pages, np.array([pages.shape[0]]), edges=_stacked(first, links))
        return self.field.decode(chains)

    def arrays(self) -> Arrays:
        field = self.field
        return {
            "state_weights": field.state_weights_,
            "step_weights": field.step_weights_,
            "edge_weights": field.edge_weights_,
        }


@dataclass(frozen=True)
class IndependentLabeller(_Telling):
    """Every page and every link by itself: maximum entropy and naive Bayes are both of this form.

    Weights are (tokens, labels), biases (labels,).
    """

    of_pages: Floats
    pages_bias: Floats
    of_links: Floats
    links_bias: Floats

    def start(self) -> Belief:
        return Belief(self.pages_bias, self.pages_bias)

    def page_scores(self, rows: csr_array) -> Floats:
        return np.asarray(rows @ self.of_pages + self.pages_bias, dtype=np.float64)

    def link_scores(self, rows: csr_array) -> Floats:
        return np.asarray(rows @ self.of_links + self.links_bias, dtype=np.float64)

    def page(self, belief: Belief, scores: Floats) -> Belief:  # noqa: ARG002 - the path does not matter
        return Belief(scores, scores)

    def links(self, belief: Belief, scores: Floats) -> LinkBeliefs:  # noqa: ARG002
        return LinkBeliefs(softmax(scores), scores, scores)

    def page_weights(self) -> Floats:
        return self.of_pages

    def link_weights(self) -> Floats:
        return self.of_links

    def decode(self, pages: csr_array, links: csr_array) -> Ints:  # noqa: ARG002
        return np.asarray(self.page_scores(pages).argmax(axis=1), dtype=np.int64)

    def arrays(self) -> Arrays:
        return {
            "page_weights": self.of_pages,
            "page_bias": self.pages_bias,
            "link_weights": self.of_links,
            "link_bias": self.links_bias,
        }


def _shift(rows: Floats) -> Floats:
    return np.asarray(rows - rows.max(axis=1, keepdims=True))


def _stacked(above: csr_array, below: csr_array) -> csr_array:
    indptr = np.concatenate((above.indptr, above.indptr[-1] + below.indptr[1:]))
    indices = np.concatenate((above.indices, below.indices))
    data = np.concatenate((above.data, below.data))
    return csr_array((data, indices, indptr), shape=(above.shape[0] + below.shape[0], above.shape[1]))
