"""kill -9 of workers and of a driver: what was promised is there, and as often as promised.

`make soak` kills ten drivers, at moments that are left to chance.
"""

from pathlib import Path

import pytest

from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState
from tests.conftest import require_spark
from tests.consumer.batches import batch
from tests.spark.support.kills import Driver, check, driver
from tests.spark.support.releases import needs

COUNT = 3000
LIMIT = 20

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def broker(make_kafka_broker: object) -> EmbeddedBroker:
    """Two nodes, and a topic of numbers."""
    made: EmbeddedBroker = make_kafka_broker(nodes=2)  # type: ignore[operator]
    for topic in ("in", "plain", "t"):
        made.create_topic(topic, partitions=2)
    numbers = [b"%d" % number for number in range(COUNT)]
    for partition in range(2):
        for first in range(0, COUNT // 2, 50):
            chosen = numbers[partition::2][first : first + 50]
            made.append(("in", partition), batch(chosen, first))
    return made


def kill_workers_as_they_write(child: Driver, broker: EmbeddedBroker) -> None:
    """Their tasks are tried again, and the streams go on."""
    broker.forget_requests()
    broker.faults.stall(ProduceRequest, times=None)
    child.wait_until(lambda: any(r.transactional_id for r in broker.requests_of(ProduceRequest)))
    assert child.kill_workers() >= 1
    broker.faults.release()
    done = child.commits()
    child.wait_until(lambda: child.commits() > done + 1)


def kill_between_two_ends(child: Driver, broker: EmbeddedBroker) -> None:
    """One transaction of a batch is committed, and the other is not."""
    first, second = (f"kafka-lite-t-{child.query_id()}-{task}" for task in range(2))
    broker.move_transaction_coordinator(first, 1)
    broker.move_transaction_coordinator(second, 2)
    broker.forget_requests()
    broker.faults.stall(EndTxnRequest, times=None, node_id=2)
    child.wait_until(
        lambda: (
            broker.transaction(first).state is TxnState.COMPLETE_COMMIT
            and broker.transaction(second).state is TxnState.ONGOING
            and any(r.transactional_id == second for r in stalled(broker))
        )
    )
    assert child.kill() > 3


def stalled(broker: EmbeddedBroker) -> list[EndTxnRequest]:
    return [
        received.request
        for received in broker.requests
        if received.node_id == 2 and isinstance(received.request, EndTxnRequest)
    ]


@needs("HAS_READ_LIMITS")
def test_nothing_is_lost_and_what_is_exactly_once_comes_once(
    here: Worker, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    require_spark()
    servers = broker.bootstrap_servers
    with driver(servers, tmp_path, LIMIT) as child:
        child.wait_until(lambda: child.commits() > 0)
        kill_workers_as_they_write(child, broker)
        kill_between_two_ends(child, broker)
    # What the dead driver has asked for comes when the next one has begun.
    broker.forget_requests()
    with driver(servers, tmp_path) as child:
        child.wait_until(lambda: bool(stalled(broker)))
        broker.faults.release()
        child.ends_well()
    assert check(here, servers, tmp_path, COUNT, partitions=2)[::2] == (0, 0)
