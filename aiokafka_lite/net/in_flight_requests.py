"""The requests of one connection that were sent and have no response yet. Does not wait.

Kafka answers the requests of a connection in their order, so a response always belongs to the
oldest request. A request whose caller was cancelled keeps its place, because its response still
comes (2f-14).
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from aiokafka_lite.errors import CorrelationIdError

MAX_CORRELATION_ID: Final = 2**31 - 1


class InFlightRequests:
    """Sent requests without a response, oldest first, and the next correlation id.

    A request is whatever the connection wants back when the response comes.
    """

    __slots__ = ("_sent", "max_in_flight", "next_correlation_id")

    def __init__(self, max_in_flight: int = 5, first_correlation_id: int = 0) -> None:
        self.max_in_flight = max_in_flight
        self.next_correlation_id = first_correlation_id
        """The correlation id of the next request."""
        self._sent: deque[tuple[int, Any]] = deque()

    def __len__(self) -> int:
        return len(self._sent)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the requests, oldest first."""
        return iter([request for _, request in list(self._sent)])

    def has_most(self) -> bool:
        """Say whether the next request must wait for a response. Source:
        max.in.flight.requests.per.connection.
        """
        return len(self._sent) >= self.max_in_flight

    def new_correlation_id(self) -> int:
        """Return the next correlation id: 0 to 2^31 - 1, then 0 again. It need not be used."""
        correlation_id = self.next_correlation_id
        self.next_correlation_id = correlation_id + 1 if correlation_id < MAX_CORRELATION_ID else 0
        return correlation_id

    def add(self, correlation_id: int, request: Any) -> None:
        """Remember a request that is sent now and will have a response."""
        self._sent.append((correlation_id, request))

    def complete(self, correlation_id: int) -> Any:
        """Remove and return the request that the response with this id belongs to.

        Raises: CorrelationIdError if the oldest request has another id. The order is lost then, and
        the connection must be closed.
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

    def drain(self) -> list[Any]:
        """Remove and return all requests, oldest first."""
        sent, self._sent = self._sent, deque()
        return [request for _, request in sent]


__all__ = ["InFlightRequests"]
