"""The latent space and its clusters, compared with scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.learn.estimator_checks import EstimatorCase, check_estimator
from wayhound.learn.arrays import Floats
from wayhound.learn.latent import Clusters, LatentSpace, unit_rows

GENERATOR = np.random.default_rng(3)
COUNTS = csr_array(GENERATOR.poisson(0.4, (40, 30)).astype(float))


def blobs(
    n: int = 60, k: int = 3, dims: int = 4
) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    generator = np.random.default_rng(1)
    truth = np.arange(n) % k
    return 5 * np.eye(dims)[truth] + generator.normal(0, 0.3, (n, dims)), truth


def test_the_latent_space_keeps_the_contract_of_estimators() -> None:
    check_estimator(
        EstimatorCase(
            make=lambda: LatentSpace(5),
            inputs={"counts": COUNTS},
            fit=lambda space, inputs, _: space.fit(inputs["counts"]),
            predict=lambda space, inputs: space.transform(inputs["counts"]),
        )
    )


@pytest.mark.parametrize("em", [True, False])
def test_clusters_keep_the_contract_of_estimators(em: bool) -> None:
    check_estimator(
        EstimatorCase(
            make=lambda: Clusters(3, em=em),
            inputs={"rows": blobs()[0]},
            fit=lambda clusters, inputs, generator: clusters.fit(inputs["rows"], generator),
            predict=lambda clusters, inputs: clusters.predict(inputs["rows"], 3),
        )
    )


def test_cosines_in_the_space_are_those_of_a_truncated_svd() -> None:
    from sklearn.decomposition import TruncatedSVD

    space = LatentSpace(6).fit(COUNTS)
    theirs = TruncatedSVD(6, algorithm="arpack", random_state=0).fit_transform(space._weighted(COUNTS))
    ours = space.transform(COUNTS)
    assert ours @ ours.T == pytest.approx(unit_rows(theirs) @ unit_rows(theirs).T, abs=1e-8)


def test_the_iterative_decomposition_of_many_documents_is_the_exact_one() -> None:
    many = csr_array(np.random.default_rng(2).poisson(0.1, (450, 420)).astype(float))
    space = LatentSpace(4).fit(many)
    exact = np.linalg.svd(space._weighted(many).toarray(), full_matrices=False)[2][:4].T
    assert np.abs(np.sum(space.components_ * exact, axis=0)) == pytest.approx(np.ones(4), abs=1e-6)


def test_a_new_document_is_folded_in_where_the_same_one_was() -> None:
    space = LatentSpace(6).fit(COUNTS)
    assert space.transform(COUNTS[[7]])[0] == pytest.approx(space.transform(COUNTS)[7])


def test_an_empty_document_is_at_zero() -> None:
    assert not LatentSpace(3).fit(COUNTS).transform(csr_array((1, 30))).any()


def test_the_rank_is_lowered_to_what_the_documents_allow() -> None:
    assert LatentSpace(50).fit(COUNTS[[0, 1, 2]]).components_.shape == (30, 3)


def test_clear_clusters_are_found() -> None:
    from sklearn.metrics import adjusted_rand_score

    rows, truth = blobs()
    for em in (True, False):
        found = Clusters(3, em=em).fit(rows, np.random.default_rng(0))
        assert adjusted_rand_score(truth, found.labels_) == 1.0


def test_em_never_lowers_the_likelihood_and_ends_like_that_of_scikit_learn() -> None:
    from sklearn.mixture import GaussianMixture

    rows = np.random.default_rng(5).normal(size=(80, 3)) + np.repeat([[0, 0, 0], [3, 0, 0]], 40, axis=0)
    ours = Clusters(2, max_iterations=300).fit(rows, np.random.default_rng(0))
    assert np.all(np.diff(ours.log_likelihoods_) > -1e-9)
    theirs = GaussianMixture(
        2, covariance_type="diag", means_init=ours.centres_, max_iter=300, tol=1e-9, reg_covar=1e-9
    ).fit(rows)
    assert ours.log_likelihoods_[-1] / len(rows) == pytest.approx(theirs.score(rows), abs=1e-3)


def test_neighbours_vote_as_in_scikit_learn() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    rows, _ = blobs(k=3)
    found = Clusters(3, em=False).fit(rows, np.random.default_rng(0))
    new = np.random.default_rng(9).normal(2, 2, (50, 4))
    theirs = KNeighborsClassifier(5).fit(rows, found.labels_).predict(new)
    assert (found.predict(new, 5) == theirs).mean() > 0.95  # ties are broken in another way


def test_fewer_rows_than_clusters_are_refused() -> None:
    with pytest.raises(ValueError, match="2 rows cannot be put into 5 clusters"):
        Clusters(5).fit(np.zeros((2, 3)), np.random.default_rng(0))


@given(st.integers(2, 6), st.integers(0, 3))
def test_equal_rows_do_no_harm(n: int, extra: int) -> None:
    rows = np.ones((n + extra, 3))
    found = Clusters(2).fit(rows, np.random.default_rng(0))
    assert np.isfinite(found.centres_).all()
    assert set(found.predict(rows, 1)) <= {0, 1}
