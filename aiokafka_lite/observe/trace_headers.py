"""Owns how the context of a trace stands in the headers of a record: W3C, or as the global
propagator of OpenTelemetry writes it. Does not wait.

The headers of a span, such as traceparent with tracestate, belong together. Each other one, such as
baggage, is looked at by itself.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from opentelemetry import propagate
from opentelemetry.context import Context
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    TraceState,
    get_current_span,
    set_span_in_context,
)

from aiokafka_lite.model import ConsumerRecord

MOST_LINKS: Final = 128
"""The limit of links that the SDK keeps for a span, unless it is configured otherwise."""

Headers = Iterable[tuple[str, bytes | None]]


@functools.lru_cache(maxsize=4)
def _of_a_span(propagator: TextMapPropagator, *state: tuple[str, str]) -> frozenset[str]:
    """Return the headers that a propagator writes for a span with this trace state."""
    context = SpanContext(1, 1, True, TraceFlags(1), TraceState(state))
    carrier: dict[str, str] = {}
    propagator.inject(carrier, set_span_in_context(NonRecordingSpan(context), Context()))
    return frozenset(carrier)


def has_context(headers: Headers | None) -> bool:
    """Whether a header names a span, as the propagator writes it. Baggage alone names none."""
    names = _of_a_span(propagate.get_global_textmap())
    return any(name in names for name, _ in headers or ())


def with_context(headers: Headers | None) -> list[tuple[str, bytes | None]]:
    """Return the headers with those of the present context that they lack.

    A span that they name already stays, with its trace state.
    """
    headers = list(headers or ())
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    if not carrier:
        return headers
    kept = {name for name, _ in headers}
    if has_context(headers):
        kept |= _of_a_span(propagate.get_global_textmap(), ("a", "b"))
    headers += [(name, value.encode()) for name, value in carrier.items() if name not in kept]
    return headers


def context_of(record: ConsumerRecord[Any, Any]) -> Context:
    """Return the context in the headers of a record; an empty one without any."""
    carrier = {name: value.decode(errors="replace") for name, value in record.headers if value}
    return propagate.extract(carrier, Context())


def links_to(records: Iterable[ConsumerRecord[Any, Any]]) -> Iterator[Link]:
    """Yield a link for each record that has a context, at most `MOST_LINKS`."""
    left = MOST_LINKS
    for record in records:
        if not left:
            return
        if record.headers:
            found = get_current_span(context_of(record)).get_span_context()
            if found.is_valid:
                left -= 1
                yield Link(found)


__all__ = ["MOST_LINKS", "context_of", "has_context", "links_to", "with_context"]
