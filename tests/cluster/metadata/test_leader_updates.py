"""Leaders by other ways than Metadata: hints in answers (KIP-951), epochs in offsets (KIP-320)."""

from typing import Any

import pytest

from aiokafka_lite.cluster.metadata.leader_updates import (
    hinted_nodes,
    is_newer_epoch,
    leader_hints,
    merge_leaders,
)
from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    LeaderAndEpoch,
    MetadataSnapshot,
    bootstrap_snapshot,
    merge_metadata,
)
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch, NodeEndpoint
from tests.cluster.support.answers import ID_A, answer, partition, topic

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)
NODE_3 = Node(3, "host3", 9092, "rack3")


def known(*partitions: Any) -> MetadataSnapshot:
    described = topic("t", partitions or [partition(0, 1, 5), partition(1, 1, 5)], topic_id=ID_A)
    return merge_metadata(
        bootstrap_snapshot([]), answer(described, topic("u", [partition(0, 2)])), partial=False
    )


def test_2b_9_a_hint_of_a_newer_epoch_is_the_leader_from_now_on() -> None:
    before = known()
    after, changed = merge_leaders(before, {T0: LeaderAndEpoch(2, 6)}, [])
    assert changed == {T0}
    assert after.leader(T0) == (2, 6)
    assert after.leader(T1) == (1, 5)
    assert after.version == before.version + 1
    assert before.leader(T0) == (1, 5)
    assert after.topics["u"] is before.topics["u"]
    assert (after.controller_id, after.cluster_id) == (before.controller_id, before.cluster_id)
    assert after.topic_id("t") == ID_A


def test_2b_9_a_hint_may_bring_the_address_of_a_node_not_known_yet() -> None:
    after, changed = merge_leaders(known(), {T0: LeaderAndEpoch(3, 6)}, [NODE_3])
    assert changed == {T0}
    assert after.nodes[3] == NODE_3
    assert after.leader(T0) == (3, 6)


@pytest.mark.parametrize(
    ("tp", "leader"),
    [
        (T0, LeaderAndEpoch(2, 5)),  # no newer epoch
        (T0, LeaderAndEpoch(2, 4)),
        (T0, LeaderAndEpoch(3, 6)),  # a node without an address
        (T0, LeaderAndEpoch(None, 6)),
        (T0, LeaderAndEpoch(2, -1)),
        (TopicPartition("t", 9), LeaderAndEpoch(2, 6)),  # partitions nobody has described
        (TopicPartition("v", 0), LeaderAndEpoch(2, 6)),
    ],
)
def test_2b_9_other_hints_are_of_no_use(tp: TopicPartition, leader: LeaderAndEpoch) -> None:
    before = known()
    assert merge_leaders(before, {tp: leader}, []) == (before, frozenset())


def test_2f_10_metadata_older_than_a_hint_does_not_undo_it() -> None:
    after, _ = merge_leaders(known(), {T0: LeaderAndEpoch(2, 6)}, [])
    lagging = answer(topic("t", [partition(0, 1, 5), partition(1, 1, 5)], topic_id=ID_A))
    assert merge_metadata(after, lagging, partial=False).leader(T0) == (2, 6)


@pytest.mark.parametrize(
    ("tp", "epoch", "is_newer"),
    [
        (T0, 6, True),
        (T0, 5, False),
        (T0, -1, False),
        (TopicPartition("t", 9), 6, False),
        (TopicPartition("v", 0), 6, False),
    ],
)
def test_2c_4_an_epoch_seen_elsewhere_is_news_if_it_is_ahead_of_a_known_one(
    tp: TopicPartition, epoch: int, is_newer: bool
) -> None:
    assert is_newer_epoch(known(), tp, epoch) is is_newer


def test_2c_4_where_no_epoch_is_known_none_is_news() -> None:
    assert not is_newer_epoch(known(partition(0, 1, -1)), T0, 6)


def test_a_response_names_leaders_by_id_and_epoch_and_their_addresses() -> None:
    named = [
        (T0, LeaderIdAndEpoch(leader_id=3, leader_epoch=6)),
        (T1, LeaderIdAndEpoch(leader_id=-1, leader_epoch=6)),
        (TopicPartition("u", 0), LeaderIdAndEpoch(leader_id=3)),
    ]
    assert leader_hints(named) == {T0: LeaderAndEpoch(3, 6)}
    endpoint = NodeEndpoint(node_id=3, host="host3", port=9092, rack="rack3")
    assert hinted_nodes([endpoint]) == [NODE_3]
