"""The context of a trace goes into headers and comes back; links stop at the limit of the SDK."""

import pytest
from opentelemetry import baggage, context, propagate
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    TraceState,
    get_current_span,
    set_span_in_context,
)

from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.observe.trace_headers import (
    MOST_LINKS,
    context_of,
    has_context,
    links_to,
    with_context,
)
from tests.observe.traces import Traces

PARENT = ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")


def record(*headers: tuple[str, bytes | None]) -> ConsumerRecord[bytes, bytes]:
    return ConsumerRecord("t", 0, 0, 0, 0, b"k", b"v", None, 1, 1, headers)


def test_the_context_of_the_current_span_is_added_once() -> None:
    assert with_context(None) == [], "there is no span"
    with Traces().tracer.start_as_current_span("request") as span:
        headers = with_context([("a", None)])
        assert with_context(headers) == headers
    assert [name for name, _ in headers] == ["a", "traceparent"]
    found = get_current_span(context_of(record(*headers))).get_span_context()
    assert found.span_id == span.get_span_context().span_id


STATE = ("tracestate", b"vendor=1")
BAGGAGE = ("baggage", b"user=7")


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ([], ["traceparent", "tracestate", "baggage"]),
        ([BAGGAGE], ["traceparent", "tracestate"]),
        ([PARENT], ["baggage"]),
        ([PARENT, STATE], ["baggage"]),
        ([PARENT, BAGGAGE], []),
        ([STATE], ["traceparent", "baggage"]),
        ([("Baggage", b""), ("traceparent2", b"")], ["traceparent", "tracestate", "baggage"]),
    ],
)
def test_each_header_is_looked_at_by_itself(
    given: list[tuple[str, bytes]], added: list[str]
) -> None:
    """A trace state goes with its traceparent, and baggage with nothing."""
    span = SpanContext(7, 9, True, TraceFlags(1), TraceState((("own", "2"),)))
    around = set_span_in_context(NonRecordingSpan(span), baggage.set_baggage("shop", "3"))
    token = context.attach(around)
    try:
        headers = with_context(given)
    finally:
        context.detach(token)
    assert headers[: len(given)] == given
    assert [name for name, _ in headers[len(given) :]] == added
    found = context_of(record(*headers))
    trace = get_current_span(found).get_span_context().trace_id
    assert trace == (7 if "traceparent" in added else 0x0AF7651916CD43DD8448EB211C80319C)
    assert dict(baggage.get_all(found)) == ({"user": "7"} if BAGGAGE in given else {"shop": "3"})
    assert propagate.get_global_textmap().fields == {"traceparent", "tracestate", "baggage"}


def test_headers_that_are_no_context_give_none() -> None:
    for headers in ((), (("traceparent", b"\xff"),), (("traceparent", None),)):
        found = get_current_span(context_of(record(*headers)))
        assert not found.get_span_context().is_valid
    assert has_context([PARENT])
    assert not has_context([("parent", b"")])
    assert not has_context(None)


def test_the_span_around_a_call_is_not_taken_for_that_of_a_record() -> None:
    with Traces().tracer.start_as_current_span("job"):
        assert list(links_to([record(), record(("a", b"b"))])) == []


def test_links_stop_at_the_limit() -> None:
    (link,) = links_to([record(("a", b"b")), record(PARENT)])
    assert link.context.span_id == 0xB7AD6B7169203331
    assert len(list(links_to([record(PARENT)] * (MOST_LINKS + 1)))) == MOST_LINKS
