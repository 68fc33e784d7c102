"""Errors of the background reach the user once, and only if they still matter (2c-7)."""

from aiokafka_lite.consumer.position.retained_error import RetainedError
from aiokafka_lite.errors import KafkaError


def test_an_error_is_told_once() -> None:
    retained, error = RetainedError(), KafkaError("x")
    assert retained.take() is None
    retained.keep(error, [lambda: True])
    assert retained.take() is error
    assert retained.take() is None


def test_an_error_nobody_is_concerned_by_any_more_is_forgotten() -> None:
    retained, wanted = RetainedError(), {1, 2}
    retained.keep(KafkaError("x"), [lambda: 1 in wanted, lambda: 2 in wanted])
    wanted.discard(1)
    assert retained.take() is not None
    retained.keep(KafkaError("y"), [lambda: 1 in wanted])
    assert retained.take() is None


def test_the_newest_error_is_the_one_told() -> None:
    retained, newest = RetainedError(), KafkaError("y")
    retained.keep(KafkaError("x"), [lambda: True])
    retained.keep(newest, [lambda: True])
    assert retained.take() is newest
