"""The AIOKafkaClient that programs get under the name `aiokafka`."""

import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from aiokafka_lite import client as lite
from aiokafka_lite.client import ConnectionGroup, lane_of
from aiokafka_lite.compat.defaults import signature_of, with_defaults
from aiokafka_lite.errors import IllegalStateError

_WIRE = "aiokafka_lite.compat.wire"
"""The module of the requests' types. Who has such a request has loaded it."""


class AIOKafkaClient(lite.AIOKafkaClient):
    """As `aiokafka_lite.AIOKafkaClient`, with aiokafka's defaults. It also sends the requests of
    `aiokafka.protocol`.

    Raises: as that; ValueError for what aiokafka refuses.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**with_defaults("AIOKafkaClient", options))

    __init__.__signature__ = signature_of("AIOKafkaClient")  # type: ignore[attr-defined]

    async def send(
        self, node_id: int, request: Any, *, group: ConnectionGroup = ConnectionGroup.DEFAULT
    ) -> Any:
        """Send a request of `aiokafka.protocol`, or of this package, to a node; return its
        response, in the same form.

        Raises: as that of `aiokafka_lite.AIOKafkaClient`; as `send_request`.
        Cancelled: a response that comes later is dropped.
        """
        wire = sys.modules.get(_WIRE)
        if wire is not None and isinstance(request, (wire.Request, wire.RequestStruct)):
            send: Any = import_module("aiokafka_lite.compat.requests").send_request
            return await send(self._running(), node_id, request, lane_of(group))
        return await super().send(node_id, request, group=group)

    async def close(self) -> None:
        """Close every connection. The client of a producer or consumer is left to its `stop()`.

        Cancelled: closing goes on in the background.
        """
        if self._belongs_to is None:
            await super().close()


class NotAllowedError(IllegalStateError, AssertionError):
    """Where this package raises IllegalStateError, and aiokafka asserts."""


@contextmanager
def asserted() -> Iterator[None]:
    """Raise NotAllowedError in place of IllegalStateError."""
    try:
        yield
    except IllegalStateError as error:
        raise NotAllowedError(str(error)) from error


def client_of(owner: Any) -> AIOKafkaClient:
    """Return the client over the connections of a producer, consumer or admin client.

    It is always the same: programs keep what belongs to it as attributes. It does not hold its
    owner, so that one that is dropped without `stop()` is noticed.
    """
    kept = vars(owner)
    if "_own_client" not in kept:
        reference = weakref.ref(owner)

        def find() -> Any:
            alive: Any = reference()
            if alive is None:
                return None
            return alive.kafka_client if hasattr(alive, "kafka_client") else alive._kafka

        kept["_own_client"] = AIOKafkaClient.of(owner._config, find, type(owner).__name__)
    client: AIOKafkaClient = kept["_own_client"]
    return client


__all__ = ["AIOKafkaClient", "NotAllowedError", "asserted", "client_of"]
