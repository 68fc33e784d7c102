"""ExponentialBackoff follows Java's (KIP-580)."""

import random

import pytest

from aiokafka_lite.concurrency.backoff import ExponentialBackoff


def test_delays_double_up_to_the_maximum() -> None:
    backoff = ExponentialBackoff(0.1, 1.0, jitter=0, rng=random.Random(0))
    assert [backoff.delay(attempts) for attempts in range(6)] == pytest.approx(
        [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    )
    assert backoff.delay(10**6) == 1.0


def test_jitter_stays_within_its_fraction_and_below_the_maximum() -> None:
    backoff = ExponentialBackoff(0.1, 1.0, rng=random.Random(7))
    for attempts, middle in ((0, 0.1), (2, 0.4)):
        delays = [backoff.delay(attempts) for _ in range(500)]
        assert middle * 0.8 <= min(delays) < middle * 0.85
        assert middle * 1.15 < max(delays) <= middle * 1.2
    assert max(backoff.delay(9) for _ in range(100)) == 1.0


def test_same_seed_gives_the_same_delays() -> None:
    one = ExponentialBackoff(0.1, 1.0, rng=random.Random(3))
    other = ExponentialBackoff(0.1, 1.0, rng=random.Random(3))
    assert [one.delay(n) for n in range(9)] == [other.delay(n) for n in range(9)]


def test_initial_delay_above_the_maximum_is_cut() -> None:
    assert ExponentialBackoff(5.0, 1.0, jitter=0, rng=random.Random()).delay(0) == 1.0


def test_no_delay_stays_no_delay() -> None:
    assert ExponentialBackoff(0.0, 0.0, rng=random.Random()).delay(40) == 0.0
