"""A client reports each event to its observer, with what the event is about."""

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from tests.scenarios.consuming import embedded


class Notebook(Observer):
    """Writes down what it is told of the network."""

    def __init__(self) -> None:
        self.connections: list[tuple[int, float]] = []
        self.responses: list[tuple[int, int, float, int]] = []

    def connected(self, node_id: int, took_s: float) -> None:
        self.connections.append((node_id, took_s))

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:
        self.responses.append((node_id, api_key, took_s, size))


async def test_connections_and_responses_are_reported_with_their_node() -> None:
    async with embedded(nodes=2) as broker:
        notebook = Notebook()
        config = ClientConfig(bootstrap_servers=broker.bootstrap_servers)
        client = KafkaClient(config, observer=notebook)
        await client.start()
        assert {node_id for node_id, _ in notebook.connections} <= {-1, -2}
        await client.network.request(2, DescribeClusterRequest())
        await client.close()
    node_id, took_s = notebook.connections[-1]
    assert node_id == 2
    assert took_s > 0
    node_id, api_key, took_s, size = notebook.responses[-1]
    assert (node_id, api_key) == (2, DescribeClusterRequest.api_key)
    assert took_s > 0
    assert size > 20  # the name of the cluster alone has more


def test_an_observer_overrides_the_events_it_needs() -> None:
    notebook = Notebook()
    notebook.batch_acknowledged(TopicPartition("t", 0), 1, 100)
    notebook.records_fetched(1, 100)
    notebook.rebalanced(1, 1)
    notebook.committed(1)
    assert (notebook.connections, notebook.responses) == ([], [])
