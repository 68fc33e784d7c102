"""Owns the correlation ids of one connection: which requests were sent, in which order, and which
answer belongs to which. It sees no bytes, no clock and no event loop, and does not wait.

Kafka answers the requests of a connection in the order in which they came, so the answer that
arrives is always the oldest request's. A request whose caller has gone keeps its slot: its answer
is still on the way (2f-14 has no other remedy).
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from aiokafka_lite.errors import CorrelationIdError

MAX_CORRELATION_ID: Final = 2**31 - 1

T = TypeVar("T")


class InFlightRequests(Generic[T]):
    """Sent and unanswered requests of one connection, oldest first, at most `max_in_flight` of
    them.

    T is whatever the connection wants back with the answer.
    """

    __slots__ = ("_sent", "max_in_flight", "next_correlation_id")

    def __init__(self, max_in_flight: int = 5, first_correlation_id: int = 0) -> None:
        self.max_in_flight = max_in_flight
        self.next_correlation_id = first_correlation_id
        """The id the next request gets."""
        self._sent: deque[tuple[int, T]] = deque()

    def __len__(self) -> int:
        return len(self._sent)

    def __iter__(self) -> Iterator[T]:
        """Iterate over the requests, oldest first."""
        return (request for _, request in self._sent)

    @property
    def is_full(self) -> bool:
        """Whether one more request has to wait for an answer. Source:
        max.in.flight.requests.per.connection."""
        return len(self._sent) >= self.max_in_flight

    def new_correlation_id(self) -> int:
        """Return the next correlation id: 0 to 2^31 - 1, then 0 again. An id that is not used is no
        harm."""
        correlation_id = self.next_correlation_id
        self.next_correlation_id = correlation_id + 1 if correlation_id < MAX_CORRELATION_ID else 0
        return correlation_id

    def add(self, correlation_id: int, request: T) -> None:
        """Remember a request that is being sent now and will be answered."""
        self._sent.append((correlation_id, request))

    def complete(self, correlation_id: int) -> T:
        """Return, and forget, the request that the answer with this id belongs to.

        Raises:
            CorrelationIdError: it is not the oldest one's; the connection's order is lost, so the
                connection is, too.
        """
        if not self._sent:
            raise CorrelationIdError(
                f"an answer with correlation id {correlation_id} came while no request was waiting"
            )
        expected, request = self._sent[0]
        if expected != correlation_id:
            raise CorrelationIdError(
                f"the answer carries correlation id {correlation_id},"
                f" the oldest waiting request has {expected}"
            )
        self._sent.popleft()
        return request

    def drain(self) -> list[T]:
        """Return, and forget, all requests, oldest first."""
        requests = [request for _, request in self._sent]
        self._sent.clear()
        return requests


__all__ = ["InFlightRequests"]
