"""The size that is planned is the size that is needed: on fresh draws the bound is as close as was said."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError, UtilityError


@pytest.mark.parametrize("limit", [1.0, 50.0])
def test_fresh_draws_are_as_close_as_planned(limit: float) -> None:
    rng = np.random.default_rng(0)
    pilot = limit * rng.beta(1, 9, 2000)
    plan = rs.bounds.holdout_size(limit=limit, epsilon=0.02 * limit, pilot=pilot)
    assert not plan.extrapolated

    def share(size: int) -> float:
        draws = limit * rng.beta(1, 9, (100, size))
        return float(np.mean([rs.bounds.betting(d, limit).high - d.mean() <= plan.epsilon for d in draws]))

    assert share(round(1.1 * plan.samples)) > 0.7
    assert share(plan.samples // 2) < 0.3


def test_a_guess_of_the_mean_is_the_worst_case() -> None:
    guessed = rs.bounds.holdout_size(limit=1.0, epsilon=0.05, mean=0.1)
    known = rs.bounds.holdout_size(limit=1.0, epsilon=0.05, pilot=np.random.default_rng(0).beta(1, 9, 500))
    assert known.samples < guessed.samples


def test_beyond_what_is_simulated_it_extrapolates() -> None:
    plan = rs.bounds.holdout_size(limit=1.0, epsilon=0.002, mean=0.5, trials=3)
    assert plan.extrapolated
    assert 300_000 < plan.samples < 1_000_000  # sqrt(ln 20 / 2N) = 0.002 at N = 374,466
    assert "extrapolated" in str(plan)


def test_bad_arguments() -> None:
    for bad in ({}, {"pilot": [0.1], "mean": 0.1}, {"mean": 2.0}, {"mean": -1.0}):
        with pytest.raises(InputError):
            rs.bounds.holdout_size(limit=1.0, epsilon=0.1, **bad)  # type: ignore[arg-type]
    with pytest.raises(UtilityError):
        rs.bounds.holdout_size(limit=1.0, epsilon=0.1, pilot=[2.0])
    with pytest.raises(InputError, match="epsilon"):
        rs.bounds.holdout_size(limit=1.0, epsilon=0.0, mean=0.1)


def test_shares_are_planned_with_the_bound_for_shares() -> None:
    """Betting would ask for more than twice as many; and fresh draws are as close as planned."""
    share, mean = (rs.bounds.holdout_size(limit=1.0, epsilon=0.05, mean=0.1, share=share) for share in (True, False))
    assert (share.bound, mean.bound) == ("Clopper-Pearson", "betting")
    assert share.samples < mean.samples
    rng = np.random.default_rng(0)
    draws = (rng.random((400, share.samples)) < 0.1) * 1.0
    close = [rs.bounds.clopper_pearson(draw, 1.0).high - draw.mean() <= 0.05 for draw in draws]
    assert np.mean(close) > 0.7
    with pytest.raises(UtilityError, match="0 or the limit"):
        rs.bounds.holdout_size(limit=1.0, epsilon=0.05, pilot=[0.5, 1.0], share=True)


def test_the_plan_says_what_it_supposes() -> None:
    pilot = np.random.default_rng(0).beta(1, 9, 40)
    assert "if the pilot is typical" in str(rs.bounds.holdout_size(limit=1.0, epsilon=0.05, pilot=pilot))
    assert "A pilot of 40 can miss" in str(rs.bounds.holdout_size(limit=1.0, epsilon=0.05, pilot=pilot))
    assert "if the mean is as guessed" in str(rs.bounds.holdout_size(limit=1.0, epsilon=0.05, mean=0.1))
