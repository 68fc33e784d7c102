"""The first reason to stop wins."""

from aiokafka_lite.workers.stop_request import StopRequest


async def test_the_first_reason_wins() -> None:
    stop = StopRequest()
    assert not stop.is_set
    first = ValueError()
    stop.set(first)
    stop.set(KeyError())
    stop.set()
    await stop.wait()
    assert stop.failure is first


async def test_a_failure_after_a_stop_is_no_reason() -> None:
    stop = StopRequest()
    stop.set()
    stop.set(ValueError())
    assert stop.is_set
    assert stop.failure is None
