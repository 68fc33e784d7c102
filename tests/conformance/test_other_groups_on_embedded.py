"""Groups of other clients, and ours, on the embedded broker: two members of each, each pair mixed.

They share the partitions by the range assignor, commit, and take over what the other one leaves.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.other_groups import MEMBERS, OURS, member, share_evenly
from tests.testing.broker.bench import batch

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning"),
    pytest.mark.usefixtures("others_may_leak"),
]

TOPIC, GROUP = "t", "g"
PARTITIONS = {0, 1, 2, 3}


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker.threaded(nodes=2) as broker:
        broker.create_topic(TOPIC, len(PARTITIONS))
        yield broker


def append(broker: EmbeddedBroker, name: str) -> Counter[bytes]:
    """Append one record to each partition; return the values."""
    values = {partition: f"{name} {partition}".encode() for partition in PARTITIONS}
    for partition, value in values.items():
        broker.append((TOPIC, partition), batch(value))
    return Counter(values.values())


def has_committed(broker: EmbeddedBroker, offset: int) -> bool:
    offsets = broker.group(GROUP).offsets
    return {key: kept.offset for key, kept in offsets.items()} == {
        TopicPartition(TOPIC, partition): offset for partition in PARTITIONS
    }


@pytest.mark.parametrize("joiner", MEMBERS)
@pytest.mark.parametrize("leader", MEMBERS)
def test_two_members_share_a_group(broker: EmbeddedBroker, leader: str, joiner: str) -> None:
    address = broker.bootstrap_servers
    with member(leader, address, TOPIC, GROUP) as first:
        first.wait_until(lambda: first.partitions == PARTITIONS)
        # Once every partition has an offset committed, nobody resets one any more; librdkafka may
        # do so after it has lost the partition and got it back.
        written = append(broker, "first")
        first.wait_until(lambda: first.values == written)
        first.wait_until(lambda: has_committed(broker, 1))
        with member(joiner, address, TOPIC, GROUP) as second:
            first.wait_until(lambda: share_evenly(first, second))
            first.wait_until(lambda: broker.group(GROUP).state == "Stable")
            view = broker.group(GROUP)
            assert (view.protocol, len(view.members)) == ("range", 2)
            assigned = [tp for entry in view.members.values() for tp in entry.partitions()]
            assert sorted(assigned) == [TopicPartition(TOPIC, i) for i in sorted(PARTITIONS)]
            written += append(broker, "shared")
            first.wait_until(lambda: first.values + second.values == written)
            first.wait_until(lambda: has_committed(broker, 2))
        first.wait_until(lambda: first.partitions == PARTITIONS)
        written += append(broker, "alone")
        first.wait_until(lambda: first.values + second.values == written)
        first.wait_until(lambda: has_committed(broker, 3))
    view = broker.group(GROUP)
    assert (view.state, view.members) == ("Empty", {})
    assert has_committed(broker, 3)


@pytest.mark.parametrize(
    ("client", "what_happens"),
    [
        *((client, "moved") for client in MEMBERS),
        # kafka-python 3.0 does not close the sockets that it could not connect.
        *((client, "killed") for client in MEMBERS if client != "kafka-python"),
    ],
)
def test_a_member_follows_its_coordinator(
    broker: EmbeddedBroker, client: str, what_happens: str
) -> None:
    with member(client, broker.bootstrap_servers, TOPIC, GROUP) as life:
        life.wait_until(lambda: life.partitions == PARTITIONS)
        written = append(broker, "before")
        life.wait_until(lambda: life.values == written)
        life.wait_until(lambda: has_committed(broker, 1))
        former = broker.group(GROUP).coordinator
        assert former is not None
        if what_happens == "moved":
            broker.move_coordinator(GROUP, 3 - former)
        else:
            broker.stop_node(former)
        assert broker.group(GROUP).coordinator == 3 - former
        written += append(broker, "after")
        life.wait_until(lambda: has_committed(broker, 2))
        life.wait_until(lambda: life.values == written)


@pytest.mark.parametrize(
    ("leader", "joiner"),
    [(OURS, client) for client in MEMBERS]
    + [(client, OURS) for client in MEMBERS if client != OURS],
)
def test_members_that_have_chosen_no_assignor_share_a_group(
    broker: EmbeddedBroker, leader: str, joiner: str
) -> None:
    """A program moves to this package, or from it, while its group goes on."""
    address = broker.bootstrap_servers
    with member(leader, address, TOPIC, GROUP, by_default=True) as first:
        first.wait_until(lambda: first.partitions == PARTITIONS)
        written = append(broker, "first")
        first.wait_until(lambda: first.values == written)
        first.wait_until(lambda: has_committed(broker, 1))
        with member(joiner, address, TOPIC, GROUP, by_default=True) as second:
            first.wait_until(lambda: share_evenly(first, second))
            written += append(broker, "shared")
            first.wait_until(lambda: first.values + second.values == written)
        first.wait_until(lambda: first.partitions == PARTITIONS)
        written += append(broker, "alone")
        first.wait_until(lambda: first.values + second.values == written)
