"""One timer for the deadlines of all requests."""

from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.net.request_deadlines import RequestDeadlines, timed_out_error
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.request_frame import RequestHead
from aiokafka_lite.testing.fake_clock import FakeClock


def pending(timeout_s: float) -> Exchange:
    exchange = Exchange(MetadataRequest(), timeout_s=timeout_s)
    exchange.begin(RequestHead(MetadataRequest, 12, "app"), 0, 30)
    return exchange


async def test_each_late_request_is_told_once_and_one_timer_runs() -> None:
    clock = FakeClock()
    requests = [pending(timeout_s) for timeout_s in (3, 1, 2)]
    told: list[tuple[float, float | None]] = []

    def late(found: list[Exchange]) -> None:
        for each in found:
            requests.remove(each)
            told.append((clock.monotonic(), each.timeout_s))

    deadlines = RequestDeadlines(clock, lambda: requests, late)
    for each in requests:
        deadlines.watch(each.deadline_s)
    assert clock.pending_timers == 1
    requests.remove(requests[2])  # answered in time
    await clock.advance(10)
    assert told == [(1, 1), (3, 3)]
    assert clock.pending_timers == 0


async def test_a_stopped_watch_leaves_no_timer() -> None:
    clock = FakeClock()
    deadlines = RequestDeadlines(clock, list, lambda found: None)
    deadlines.watch(5)
    deadlines.stop()
    deadlines.stop()
    assert clock.pending_timers == 0


async def test_the_error_says_whether_the_request_was_sent() -> None:
    request = pending(30)
    assert "could not be sent to node 1 within 30,000 ms: 5 requests" in str(
        timed_out_error("node 1", request, 5)
    )
    request.correlation_id = 7
    assert "node 1 did not answer MetadataRequest" in str(timed_out_error("node 1", request, 5))
    request.expects_response = False
    assert "did not take all bytes" in str(timed_out_error("node 1", request, 5))
