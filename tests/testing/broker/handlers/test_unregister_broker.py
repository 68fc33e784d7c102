"""UnregisterBroker: a node is forgotten until it starts again."""

from aiokafka_lite.errors import BrokerIdNotRegisteredError
from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from aiokafka_lite.protocol.messages.unregister_broker import UnregisterBrokerRequest
from aiokafka_lite.testing.broker.handlers import describe_cluster, unregister_broker
from tests.testing.broker.bench import Bench


def ask(bench: Bench, broker_id: int) -> int:
    request = UnregisterBrokerRequest(broker_id=broker_id)
    return bench.ask(unregister_broker.HANDLER, request, 0).error_code


def known(bench: Bench) -> list[int]:
    request = DescribeClusterRequest(include_fenced_brokers=True)
    answer = bench.ask(describe_cluster.HANDLER, request, 2)
    return [each.broker_id for each in answer.brokers]


def test_a_node_is_forgotten() -> None:
    bench = Bench(3)
    topic = bench.topic(partitions=3)
    bench.cluster.set_alive(2, is_alive=False)
    assert known(bench) == [1, 2, 3]
    assert [ask(bench, broker_id) for broker_id in (2, 3, 9)] == [
        0,
        0,
        BrokerIdNotRegisteredError.errno,
    ]
    assert known(bench) == [1]
    assert {partition.leader for partition in topic.partitions} == {1}
    assert ask(bench, 2) == BrokerIdNotRegisteredError.errno
    bench.cluster.set_alive(2, is_alive=True)
    assert known(bench) == [1, 2]
