"""The requests that the broker received, newest last, limited by number and bytes.

Does not wait.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from aiokafka_lite.schema.message import Request

MAX_REQUEST_BYTES = 16 * 1024 * 1024
"""A request keeps its records in memory; this limits their size."""

RequestT = TypeVar("RequestT", bound=Request[Any])


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as it arrived at a node, decoded."""

    node_id: int
    api_key: int
    api_version: int
    client_id: str | None
    request: Request[Any]
    listener: str = "PLAINTEXT"
    """Name of the listener that it came by."""


class RequestLog:
    """Keeps the newest requests; 0 keeps none."""

    __slots__ = ("_bytes", "_entries", "_max_requests")

    def __init__(self, max_requests: int) -> None:
        self._max_requests = max_requests
        self._entries: deque[tuple[ReceivedRequest, int]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ReceivedRequest]:
        return (received for received, _ in self._entries)

    def append(self, received: ReceivedRequest, size_in_bytes: int) -> None:
        """Record a request and its size on the wire.

        The oldest requests are dropped to make room.
        """
        self._entries.append((received, size_in_bytes))
        self._bytes += size_in_bytes
        while len(self._entries) > self._max_requests or self._bytes > MAX_REQUEST_BYTES:
            _, dropped = self._entries.popleft()
            self._bytes -= dropped

    def of_type(self, request_type: type[RequestT]) -> list[RequestT]:
        """Return the requests of one API, oldest first."""
        return [
            received.request
            for received, _ in self._entries
            if isinstance(received.request, request_type)
        ]

    def clear(self) -> None:
        """Drop all of them."""
        self._entries.clear()
        self._bytes = 0


__all__ = ["ReceivedRequest", "RequestLog", "RequestT"]
