"""What the families of admin calls have in common: the requests of a running client, and the bound
of a call. Does not wait.
"""

from collections.abc import Callable

from aiokafka_lite.admin.calls.admin_requests import AdminRequests
from aiokafka_lite.admin.calls.outer_call import OUTER_CALL
from aiokafka_lite.admin.calls.pending_items import closed_meanwhile
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.cluster.kafka_client import ClientState
from aiokafka_lite.errors import IllegalArgumentError

_MOST_MS = 2**31 - 1


class AdminFamily:
    """One family of calls. `AIOKafkaAdminClient` is made of all families."""

    def _running(self) -> AdminRequests:
        """Return what sends the requests. Raises: IllegalStateError unless the client runs."""
        raise NotImplementedError

    def _timeout_s(self, timeout_ms: int | None) -> float:
        """Return the bound of a call in seconds; None stands for request_timeout_ms.

        Raises: IllegalArgumentError if it is no int from 1 to 2147483647.
        """
        if timeout_ms is None:
            return self._running().client.config.request_timeout_ms / 1000
        given, timeout_ms = timeout_ms, whole(timeout_ms)
        if not is_int(timeout_ms) or not 1 <= timeout_ms <= _MOST_MS:
            raise IllegalArgumentError(
                f"timeout_ms={quoted(given)} is no int from 1 to {_MOST_MS}; name the "
                "milliseconds that the call may take, or None for request_timeout_ms"
            )
        return timeout_ms / 1000

    def _left_ms(self, timeout_ms: int | None) -> Callable[[], int]:
        """Return what tells how many milliseconds of a call in several steps are left, at least 1.
        It raises KafkaConnectionError when the client was closed between two steps.

        Raises: as `_timeout_s`.
        """
        client = self._running().client
        ends_s = client.clock.monotonic() + self._timeout_s(timeout_ms)

        def left_ms() -> int:
            if client.state is not ClientState.RUNNING:
                raise closed_meanwhile(OUTER_CALL.get())
            return max(1, round((ends_s - client.clock.monotonic()) * 1000))

        return left_ms


__all__ = ["AdminFamily"]
