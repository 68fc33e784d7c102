"""The same acts by members of each protocol, on a real Apache Kafka.

"auto" is one of the two others here; the embedded broker has all three, and the older brokers.
"""

from collections.abc import Iterator

import pytest

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import require_kafka
from tests.support.group_protocols import ACTS, Act, Stage

QUICK = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.initial.rebalance.delay.ms": "0",
}

pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.timeout(180),
    pytest.mark.asyncio(loop_factories=["asyncio"]),
]


@pytest.fixture(scope="module", name="quick_kafka")
def _quick_kafka() -> Iterator[ApacheKafka]:
    require_kafka(DEFAULT_VERSION)
    with ApacheKafka(DEFAULT_VERSION, properties=QUICK) as kafka:
        yield kafka


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("act", ACTS)
async def test_members_may_rely_on(
    act: Act, protocol: str, quick_kafka: ApacheKafka, topic_name: str
) -> None:
    topic = topic_name.replace("[", "-").replace("]", "-")
    await act(Stage({"bootstrap_servers": quick_kafka.bootstrap_servers}, topic, protocol))
