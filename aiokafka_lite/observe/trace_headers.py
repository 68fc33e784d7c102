"""Owns how the context of a trace stands in the headers of a record: W3C, or as the global
propagator of OpenTelemetry writes it. Does not wait.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from opentelemetry import propagate
from opentelemetry.context import Context
from opentelemetry.trace import Link, get_current_span

from aiokafka_lite.model import ConsumerRecord

MOST_LINKS: Final = 128
"""The limit of links that the SDK keeps for a span, unless it is configured otherwise."""

Headers = Iterable[tuple[str, bytes | None]]


def has_context(headers: Headers | None) -> bool:
    """Whether a header is one of those that the propagator writes."""
    fields = propagate.get_global_textmap().fields
    return any(name in fields for name, _ in headers or ())


def with_context(headers: Headers | None) -> list[tuple[str, bytes | None]]:
    """Return the headers with the context of the current span, unless they have one."""
    headers = list(headers or ())
    if not has_context(headers):
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        headers += [(name, value.encode()) for name, value in carrier.items()]
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
