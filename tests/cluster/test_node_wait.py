"""Why a request to a node would wait: asked of clients whose node is hurt."""

from aiokafka_lite.metrics.explanation import WaitReason
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from tests.consumer.batches import tps
from tests.consumer.test_fetch_explanation import reading, until
from tests.scenarios.consuming import embedded

(P0,) = tps(0)


async def test_a_connection_that_is_being_made() -> None:
    async with embedded({"t": 1}) as broker, reading(broker) as consumer:
        assert consumer.kafka_client.network.node_wait(broker.leader(P0)) is None
        broker.faults.stall(ApiVersionsRequest)
        await consumer.getmany(timeout_ms=0)  # the lane of fetches has no connection yet
        found = await until(consumer, WaitReason.CONNECTING)
        assert found.error is None
        broker.faults.release()
        broker.faults.stall(FetchRequest)
        await until(consumer, WaitReason.FETCHING)
        broker.faults.release()
