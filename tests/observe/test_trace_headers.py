"""The context of a trace goes into headers and comes back; links stop at the limit of the SDK."""

from opentelemetry.trace import get_current_span

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
