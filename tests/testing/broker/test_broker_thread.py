"""A broker in its own thread: calls go into its loop, errors come out."""

import asyncio
import threading

import pytest

from aiokafka_lite.testing.broker.broker_thread import BrokerThread


class Subject:
    """Notes where it was started and stopped; may fail at both."""

    def __init__(self, start_error: Exception | None = None, stop_error: Exception | None = None):
        self.start_error = start_error
        self.stop_error = stop_error
        self.events: list[str] = []

    async def start(self) -> None:
        self.events.append(f"start in {threading.current_thread().name}")
        if self.start_error:
            raise self.start_error

    async def stop(self) -> None:
        self.events.append(f"stop in {threading.current_thread().name}")
        if self.stop_error:
            raise self.stop_error


def test_the_subject_lives_in_the_thread() -> None:
    subject = Subject()
    thread = BrokerThread(subject, None)
    thread.start()
    assert subject.events == ["start in kafka-broker"]
    thread.stop()
    assert subject.events == ["start in kafka-broker", "stop in kafka-broker"]


def test_calls_run_in_the_loop_and_bring_results_and_errors() -> None:
    thread = BrokerThread(Subject(), None)
    thread.start()
    assert thread.call(lambda: threading.current_thread().name) == "kafka-broker"
    assert thread.call(lambda: thread.call(lambda: 7)) == 7
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 // 0)
    thread.stop()


def test_what_the_broker_knows_can_be_looked_at_after_it_ended() -> None:
    thread = BrokerThread(Subject(), None)
    thread.start()
    thread.stop()
    assert thread.call(lambda: 1) == 1


def test_a_call_while_the_broker_ends_gets_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop may end before the call gets to it, or with the call in its queue."""
    for accepts in (True, False):
        thread = BrokerThread(Subject(), None)
        thread.start()

        class Ending:
            def call_soon_threadsafe(self, _: object) -> None:
                thread.stop()  # noqa: B023  used in this round
                if not accepts:  # noqa: B023
                    raise RuntimeError("Event loop is closed")

        monkeypatch.setattr(thread, "_running_loop", Ending)
        assert thread.call(lambda: 1) == 1


async def test_coroutines_run_in_the_loop_of_the_thread() -> None:
    thread = BrokerThread(Subject(), None)
    thread.start()

    async def where() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert await thread.run(where()) == "kafka-broker"
    thread.stop()
    with pytest.raises(RuntimeError, match="use it inside its with block"):
        await thread.run(where())


def test_an_error_at_start_is_raised_by_start_after_stopping() -> None:
    subject = Subject(start_error=OSError("no port"))
    thread = BrokerThread(subject, None)
    with pytest.raises(OSError, match="no port"):
        thread.start()
    thread.stop()
    assert len(subject.events) == 2


def test_a_thread_whose_loop_is_closed_may_be_stopped_before_it_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thread = BrokerThread(Subject(start_error=OSError("no port")), None)
    with pytest.raises(OSError, match="no port"):
        thread.start()
    thread._thread.join()
    monkeypatch.setattr(thread._thread, "is_alive", lambda: True)
    thread.stop()


def test_an_error_at_stop_is_raised_by_stop() -> None:
    thread = BrokerThread(Subject(stop_error=OSError("late")), None)
    thread.start()
    with pytest.raises(OSError, match="late"):
        thread.stop()


def test_the_loop_may_be_chosen() -> None:
    made = []

    def factory() -> asyncio.AbstractEventLoop:
        made.append(asyncio.new_event_loop())
        return made[0]

    thread = BrokerThread(Subject(), factory)
    thread.start()
    thread.stop()
    assert made[0].is_closed()
