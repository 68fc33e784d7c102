"""The call that describes the cluster. Name and answer are aiokafka's."""

from __future__ import annotations

from typing import Any

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import raise_broker_error
from aiokafka_lite.protocol.messages.metadata import MetadataRequest


class DescribeClusterCalls(AdminFamily):
    """The nodes of the cluster."""

    async def describe_cluster(self, timeout_ms: int | None = None) -> dict[str, Any]:
        """Return the cluster as aiokafka does: throttle_time_ms, brokers, cluster_id and
        controller_id.

        A broker is a dict of node_id, host, port and rack. With KRaft, `controller_id` is a broker
        that passes changes on to the controller.

        Raises: KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        """

        async def ask(node: AskedNode) -> dict[str, Any]:
            answer = await node.request(MetadataRequest(topics=[], allow_auto_topic_creation=False))
            raise_broker_error(answer.error_code, None, "describe_cluster()")
            return {
                "throttle_time_ms": answer.throttle_time_ms,
                "brokers": [
                    {
                        "node_id": each.node_id,
                        "host": each.host,
                        "port": each.port,
                        "rack": each.rack,
                    }
                    for each in answer.brokers
                ],
                "cluster_id": answer.cluster_id,
                "controller_id": answer.controller_id,
            }

        requests = self._running()
        return await requests.one(
            "describe_cluster()",
            None,
            requests.routes.any_node,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )


__all__ = ["DescribeClusterCalls"]
