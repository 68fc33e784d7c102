"""The AIOKafkaClient that programs get under the name `aiokafka`."""

from typing import Any

from aiokafka_lite import client as lite
from aiokafka_lite.client import ConnectionGroup, lane_of
from aiokafka_lite.compat.requests import send_request
from aiokafka_lite.compat.wire import Request, RequestStruct


class AIOKafkaClient(lite.AIOKafkaClient):
    """As `aiokafka_lite.AIOKafkaClient`. It also sends the requests of `aiokafka.protocol`."""

    async def send(
        self, node_id: int, request: Any, *, group: ConnectionGroup = ConnectionGroup.DEFAULT
    ) -> Any:
        """Send a request of `aiokafka.protocol`, or of this package, to a node; return its
        response, in the same form.

        Raises: as that of `aiokafka_lite.AIOKafkaClient`; as `send_request`.
        Cancelled: a response that comes later is dropped.
        """
        if isinstance(request, Request | RequestStruct):
            return await send_request(self._running(), node_id, request, lane_of(group))
        return await super().send(node_id, request, group=group)


__all__ = ["AIOKafkaClient"]
