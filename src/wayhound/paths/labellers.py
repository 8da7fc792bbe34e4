"""Three ways to label the pages and links along a path: two chain CRFs (2.4.1, 2.4.2), and no chain at all.

A labeller sees rows of tokens alone. The belief that it carries along the path is in logarithms: α (Eq. 6) for
probabilities, δ (Eq. 2) for the best labelling. Sections and equations are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.arrays import Floats, Ints, softmax
from wayhound.learn.chain import Chains, Rules, best_step, forward_step, shift_to_zero
from wayhound.learn.crf import ChainCRF
from wayhound.learn.model_file import Arrays


@dataclass(frozen=True, slots=True)
class Belief:
    """log α and log δ over the states, each (states,): after reading a page, or before reading it."""

    alpha: Floats
    delta: Floats


@dataclass(frozen=True, slots=True)
class LinkBeliefs:
    """The links of a page: label probabilities (n, labels), and the belief with which each target will be read."""

    probabilities: Floats
    alpha: Floats  # (n, states)
    delta: Floats

    def belief(self, number: int) -> Belief:
        return Belief(self.alpha[number], self.delta[number])


class Labeller(Protocol):
    """Labels pages and links along a path. Scores are separate from beliefs, so that they can be cached."""

    def start(self) -> Belief: ...

    def page_scores(self, rows: csr_array) -> Floats:
        """Return (n, labels)."""
        ...

    def link_scores(self, rows: csr_array) -> Floats:
        """Return (n, k), in the form that `follow_links` takes."""
        ...

    def read_page(self, belief: Belief, scores: Floats) -> Belief:
        """Return the belief after a page with these scores (labels,)."""
        ...

    def label_probabilities(self, belief: Belief) -> Floats:
        """Return the probability of each label of the page, (labels,)."""
        ...

    def best_label(self, belief: Belief) -> int:
        """Return the label of the page on the best labelling of the path to it (Eq. 2)."""
        ...

    def follow_links(self, belief: Belief, scores: Floats) -> LinkBeliefs:
        """Return what to expect behind the links of a page."""
        ...

    def page_weights(self) -> Floats:
        """Return the weight of each page token for each label, (tokens, labels)."""
        ...

    def link_weights(self) -> Floats:
        """Return the weight of each link token for each label, (tokens, labels)."""
        ...

    def decode(self, pages: csr_array, links: csr_array) -> Ints:
        """Return the labels of a whole path of n pages and the n - 1 links between them, (n,)."""
        ...

    def arrays(self) -> Arrays:
        """Return the weights by the names that model files use."""
        ...


def pair_rules(n: int) -> Rules:
    """Return rules by which pages and links alternate, and a link's label is that of the page behind it (2.4.2)."""
    allowed = np.zeros((2 * n, 2 * n), dtype=bool)
    allowed[:n, n:] = True
    allowed[n + np.arange(n), np.arange(n)] = True
    return Rules(allowed, np.arange(2 * n) < n, np.ones(2 * n, dtype=bool))


class _ReadsBelief:
    def label_probabilities(self, belief: Belief) -> Floats:
        return np.asarray(softmax(belief.alpha[None])[0])

    def best_label(self, belief: Belief) -> int:
        return int(belief.delta.argmax())


class _CarriesBelief(_ReadsBelief):
    def read_page(self, belief: Belief, scores: Floats) -> Belief:
        """Add the scores. Only ratios matter (Eq. 7), so the largest is kept at 0 and nothing grows along the path."""
        alpha, delta = belief.alpha + scores, belief.delta + scores
        return Belief(alpha - alpha.max(), delta - delta.max())


@dataclass(frozen=True)
class PairedCrfLabeller(_CarriesBelief):
    """Two states per label (2.4.2): the first n are pages, the last n the links to them."""

    crf: ChainCRF

    @property
    def n(self) -> int:
        return self.crf.rules.n_states // 2

    def start(self) -> Belief:
        return Belief(self.crf.log_starts[: self.n], self.crf.log_starts[: self.n])

    def page_scores(self, rows: csr_array) -> Floats:
        return np.asarray(rows @ self.page_weights(), dtype=np.float64)

    def link_scores(self, rows: csr_array) -> Floats:
        return np.asarray(rows @ self.link_weights(), dtype=np.float64)

    def follow_links(self, belief: Belief, scores: Floats) -> LinkBeliefs:
        transitions = self.crf.transitions()
        to_link, to_page = transitions[: self.n, self.n :], np.diagonal(transitions[self.n :, : self.n])
        alpha = forward_step(belief.alpha, to_link) + scores
        delta = best_step(belief.delta, to_link) + scores
        # a link leads to one page state only, but the weight of that transition differs from label to label
        return LinkBeliefs(softmax(alpha), shift_to_zero(alpha + to_page), shift_to_zero(delta + to_page))

    def page_weights(self) -> Floats:
        return self.crf.state_weights_[:, : self.n]

    def link_weights(self) -> Floats:
        return self.crf.state_weights_[:, self.n :]

    def decode(self, pages: csr_array, links: csr_array) -> Ints:
        order = np.arange(pages.shape[0] + links.shape[0])
        rows = np.where(order % 2 == 0, order // 2, pages.shape[0] + order // 2)
        chains = Chains(_stack(pages, links), np.array([len(order)]), rows=rows)
        return self.crf.decode(chains)[::2]

    def arrays(self) -> Arrays:
        return {"state_weights": self.crf.state_weights_, "step_weights": self.crf.transition_weights_}


@dataclass(frozen=True)
class EdgeCrfLabeller(_CarriesBelief):
    """One state per label (2.4.1): the tokens of a link are features of the transition from label to label."""

    crf: ChainCRF

    @property
    def n(self) -> int:
        return self.crf.rules.n_states

    def start(self) -> Belief:
        return Belief(self.crf.log_starts, self.crf.log_starts)

    def page_scores(self, rows: csr_array) -> Floats:
        return self.crf.scores(rows)

    def link_scores(self, rows: csr_array) -> Floats:
        """Return the scores of every transition, (n, labels · labels)."""
        flat = self.crf.edge_weights_.reshape(rows.shape[1], -1)
        return np.asarray(rows @ flat + self.crf.transition_weights_.ravel(), dtype=np.float64)

    def follow_links(self, belief: Belief, scores: Floats) -> LinkBeliefs:
        """Treat a link whose page is not read yet as a transition to a page that shows nothing."""
        transitions = scores.reshape(-1, self.n, self.n)
        alpha, delta = forward_step(belief.alpha, transitions), best_step(belief.delta, transitions)
        return LinkBeliefs(softmax(alpha), shift_to_zero(alpha), shift_to_zero(delta))

    def page_weights(self) -> Floats:
        return self.crf.state_weights_

    def link_weights(self) -> Floats:
        return np.asarray(self.crf.edge_weights_.mean(axis=1))

    def decode(self, pages: csr_array, links: csr_array) -> Ints:
        first = csr_array((1, links.shape[1]))
        chains = Chains(pages, np.array([pages.shape[0]]), edges=_stack(first, links))
        return self.crf.decode(chains)

    def arrays(self) -> Arrays:
        return {
            "state_weights": self.crf.state_weights_,
            "step_weights": self.crf.transition_weights_,
            "edge_weights": self.crf.edge_weights_,
        }


@dataclass(frozen=True)
class IndependentLabeller(_ReadsBelief):
    """Every page and every link by itself, whatever the path: maximum entropy and naive Bayes have this form.

    Weights are (tokens, labels), biases (labels,).
    """

    page_table: Floats
    page_bias: Floats
    link_table: Floats
    link_bias: Floats

    def start(self) -> Belief:
        return Belief(self.page_bias, self.page_bias)

    def page_scores(self, rows: csr_array) -> Floats:
        return np.asarray(rows @ self.page_table + self.page_bias, dtype=np.float64)

    def link_scores(self, rows: csr_array) -> Floats:
        return np.asarray(rows @ self.link_table + self.link_bias, dtype=np.float64)

    def read_page(self, belief: Belief, scores: Floats) -> Belief:  # noqa: ARG002 - the path does not matter
        return Belief(scores, scores)

    def follow_links(self, belief: Belief, scores: Floats) -> LinkBeliefs:  # noqa: ARG002
        return LinkBeliefs(softmax(scores), scores, scores)

    def page_weights(self) -> Floats:
        return self.page_table

    def link_weights(self) -> Floats:
        return self.link_table

    def decode(self, pages: csr_array, links: csr_array) -> Ints:  # noqa: ARG002
        return np.asarray(self.page_scores(pages).argmax(axis=1), dtype=np.int64)

    def arrays(self) -> Arrays:
        return {
            "page_weights": self.page_table,
            "page_bias": self.page_bias,
            "link_weights": self.link_table,
            "link_bias": self.link_bias,
        }


def _stack(above: csr_array, below: csr_array) -> csr_array:
    indptr = np.concatenate((above.indptr, above.indptr[-1] + below.indptr[1:]))
    indices = np.concatenate((above.indices, below.indices))
    data = np.concatenate((above.data, below.data))
    return csr_array((data, indices, indptr), shape=(above.shape[0] + below.shape[0], above.shape[1]))
