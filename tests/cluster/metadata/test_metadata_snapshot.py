"""What the next picture of a cluster is after each kind of Metadata answer (2f-9, 2f-10)."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    NO_LEADER,
    LeaderAndEpoch,
    MetadataSnapshot,
    bootstrap_snapshot,
    forget_topics,
    is_equivalent,
    merge_metadata,
    without_nodes,
)
from aiokafka_lite.errors import (
    InvalidTopicError,
    LeaderNotAvailableError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.protocol.messages.metadata import MetadataResponse
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.cluster.support.answers import ID_A, ID_B, answer, partition, topic

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


def after(*answers: MetadataResponse, **options: Any) -> MetadataSnapshot:
    snapshot = bootstrap_snapshot([Endpoint("seed", 9092)])
    for response in answers:
        snapshot = merge_metadata(snapshot, response, **{"partial": False, **options})
    return snapshot


def test_before_any_answer_the_seeds_are_nodes_with_negative_ids() -> None:
    snapshot = bootstrap_snapshot([Endpoint("one", 1), Endpoint("two", 2)])
    assert dict(snapshot.nodes) == {-1: Node(-1, "one", 1), -2: Node(-2, "two", 2)}
    assert snapshot.cluster_id is None
    assert snapshot.partitions_for("t") is None


def test_an_answer_brings_nodes_with_racks_controller_and_cluster_id() -> None:
    snapshot = after(answer(controller_id=2))
    assert dict(snapshot.nodes) == {
        1: Node(1, "host1", 9092, "rack1"),
        2: Node(2, "host2", 9092, "rack2"),
    }
    assert snapshot.controller_id == 2
    assert snapshot.cluster_id == "cluster"


def test_a_controller_that_is_no_known_node_is_none() -> None:
    assert after(answer(controller_id=-1)).controller_id is None
    assert after(answer(controller_id=9)).controller_id is None


def test_a_topic_has_partitions_leaders_id_and_replicas() -> None:
    snapshot = after(answer(topic("t", [partition(1, 2, 7), partition(0, 1, 3)], topic_id=ID_A)))
    assert snapshot.partitions_for("t") == {0, 1}
    assert snapshot.partition_ids("t") == (0, 1)
    assert snapshot.available_partitions("t") == (0, 1)
    assert snapshot.leader(T0) == LeaderAndEpoch(1, 3)
    assert snapshot.leader(T1) == LeaderAndEpoch(2, 7)
    assert snapshot.topic_id("t") == ID_A
    assert snapshot.topic_name(ID_A) == "t"
    described = snapshot.topics["t"].partitions[0]
    assert (described.replicas, described.isr, described.offline_replicas) == ((1, 2), (1,), (2,))


def test_an_unknown_topic_is_answered_without_error() -> None:
    snapshot = after(answer())
    assert snapshot.partitions_for("t") is None
    assert snapshot.partition_ids("t") == ()
    assert snapshot.available_partitions("t") == ()
    assert snapshot.leader(T0) is NO_LEADER
    assert snapshot.topic_id("t") == ZERO_UUID
    assert snapshot.topic_name(ID_A) is None
    assert snapshot.topic_error("t") is None
    assert not snapshot.is_internal("t")


def test_internal_topics_are_marked() -> None:
    assert after(answer(topic("t", is_internal=True))).is_internal("t")


def test_a_leader_that_is_missing_or_offline_is_none() -> None:
    """A leader whose node is not among the brokers is offline for clients."""
    snapshot = after(answer(topic("t", [partition(0, -1, error_code=5), partition(1, 9, 4)])))
    assert snapshot.leader(T0).node_id is None
    assert snapshot.leader(T1) == LeaderAndEpoch(None, 4)
    assert snapshot.available_partitions("t") == ()
    assert snapshot.topics["t"].partitions[0].error is LeaderNotAvailableError


def test_a_replica_is_online_when_its_node_is_known_and_does_not_lack_the_partition() -> None:
    """A replica is online if its node is known and not listed as offline (2b-5)."""
    snapshot = after(answer(topic("t", [partition(0, 1)])))
    assert snapshot.is_online(T0, 1)
    assert not snapshot.is_online(T0, 2)
    assert not snapshot.is_online(T0, 3)
    assert not snapshot.is_online(T1, 1)
    assert not snapshot.is_online(TopicPartition("u", 0), 1)


def test_the_error_of_a_topic_is_kept_instead_of_its_partitions() -> None:
    snapshot = after(answer(topic("t", error_code=3), topic("b@d", error_code=17)))
    assert snapshot.topic_error("t") is UnknownTopicOrPartitionError
    assert snapshot.topic_error("b@d") is InvalidTopicError
    assert snapshot.partitions_for("t") is None


def test_partition_lists_are_the_same_objects_at_each_call() -> None:
    """Aiokafka builds sets per record; here they are made once per topic and answer."""
    snapshot = after(answer(topic("t", [partition(0, 1)])))
    assert snapshot.partition_ids("t") is snapshot.partition_ids("t")
    assert snapshot.available_partitions("t") is snapshot.available_partitions("t")
    assert snapshot.partitions_for("t") is snapshot.partitions_for("t")


def test_snapshots_cannot_be_changed() -> None:
    snapshot = after(answer(topic("t", [partition(0, 1)])))
    with pytest.raises(FrozenInstanceError):
        snapshot.version = 0  # type: ignore[misc]  # that is what must fail
    with pytest.raises(TypeError):
        snapshot.nodes[5] = Node(5, "x", 1)  # type: ignore[index]  # that is what must fail


def test_each_answer_makes_a_new_version() -> None:
    first = after(answer())
    assert merge_metadata(first, answer(), partial=True).version == first.version + 1


# Full and partial answers…


def test_a_full_answer_forgets_topics_it_does_not_name() -> None:
    snapshot = after(answer(topic("t", [partition(0, 1)])), answer(topic("u", [partition(0, 1)])))
    assert set(snapshot.topics) == {"u"}


def test_a_partial_answer_keeps_the_objects_of_topics_it_does_not_name() -> None:
    first = after(answer(topic("t", [partition(0, 1)], topic_id=ID_A)))
    second = merge_metadata(
        first, answer(topic("u", [partition(0, 2)], topic_id=ID_B)), partial=True
    )
    assert set(second.topics) == {"t", "u"}
    assert second.topics["t"] is first.topics["t"]
    assert (second.topic_name(ID_A), second.topic_name(ID_B)) == ("t", "u")


def test_a_partial_answer_without_a_node_takes_its_leaderships_from_kept_topics() -> None:
    first = after(answer(topic("t", [partition(0, 2, 4)])))
    gone = merge_metadata(first, answer(nodes=[1]), partial=True)
    assert gone.leader(T0) == LeaderAndEpoch(None, 4)
    back = merge_metadata(gone, answer(nodes=[1, 2]), partial=True)
    assert back.leader(T0) == LeaderAndEpoch(2, 4)


def test_a_topic_described_as_before_keeps_its_object() -> None:
    first = after(answer(topic("t", [partition(0, 1)])))
    second = merge_metadata(first, answer(topic("t", [partition(0, 1)])), partial=False)
    assert second.topics["t"] is first.topics["t"]


# Leader epochs…


def test_an_older_leader_epoch_is_ignored() -> None:
    """A broker that lags does not send the client back to an older leader (2f-10)."""
    snapshot = after(
        answer(topic("t", [partition(0, 2, 5), partition(1, 1, 1)], topic_id=ID_A)),
        answer(topic("t", [partition(0, 1, 4), partition(1, 2, 2)], topic_id=ID_A)),
    )
    assert snapshot.leader(T0) == LeaderAndEpoch(2, 5)
    assert snapshot.leader(T1) == LeaderAndEpoch(2, 2)


def test_the_same_epoch_without_a_leader_is_taken() -> None:
    snapshot = after(
        answer(topic("t", [partition(0, 2, 5)])), answer(topic("t", [partition(0, -1, 5)]))
    )
    assert snapshot.leader(T0) == LeaderAndEpoch(None, 5)


def test_a_new_topic_id_starts_the_epochs_anew() -> None:
    """A topic that was deleted and created again starts its leader epochs anew (2f-10)."""
    snapshot = after(
        answer(topic("t", [partition(0, 2, 5)], topic_id=ID_A)),
        answer(topic("t", [partition(0, 1, 0)], topic_id=ID_B)),
    )
    assert snapshot.leader(T0) == LeaderAndEpoch(1, 0)
    assert snapshot.topic_name(ID_A) is None


def test_epochs_outlive_an_answer_that_has_only_an_error() -> None:
    """The leader epoch is remembered while a broker does not know the topic (2f-10)."""
    good = answer(topic("t", [partition(0, 2, 5)], topic_id=ID_A))
    unknown = answer(topic("t", error_code=3))
    behind = answer(topic("t", [partition(0, 1, 4)], topic_id=ID_A))
    snapshot = after(good, unknown)
    assert snapshot.leader(T0) is NO_LEADER
    assert snapshot.topic_id("t") == ID_A
    assert merge_metadata(snapshot, behind, partial=False).leader(T0) == NO_LEADER
    assert merge_metadata(snapshot, good, partial=False).leader(T0) == LeaderAndEpoch(2, 5)


def test_a_partition_of_which_only_an_older_epoch_is_known_is_there_without_a_leader() -> None:
    """The partitions of a topic have no gaps, whatever brokers that are behind say (2f-10)."""
    now = [partition(0, 1), partition(1, 2, 5), partition(2, 1)]
    past = [partition(0, 1), partition(1, 1, 4), partition(2, 1)]
    unknown = answer(topic("t", error_code=3))
    good, behind = (answer(topic("t", each, topic_id=ID_A)) for each in (now, past))
    snapshot = after(good, unknown, behind)
    assert snapshot.partition_ids("t") == (0, 1, 2)
    assert snapshot.partitions_for("t") == {0, 1, 2}
    assert snapshot.available_partitions("t") == (0, 2)
    snapshot = merge_metadata(snapshot, behind, partial=False)
    assert snapshot.available_partitions("t") == (0, 2)
    snapshot = merge_metadata(snapshot, good, partial=False)
    assert snapshot.leader(T1) == LeaderAndEpoch(2, 5)


def test_epochs_of_a_topic_without_id_end_with_the_topic() -> None:
    """Brokers before 2.8 have no topic ids: what has the name next is another topic (2f-10)."""
    good = answer(topic("t", [partition(0, 2, 5)]))
    anew = answer(topic("t", [partition(0, 1, 0)]))
    assert after(good, answer(topic("t", error_code=3)), anew).leader(T0) == LeaderAndEpoch(1, 0)
    not_now = answer(topic("t", error_code=5))
    assert after(good, not_now, anew).leader(T0) == NO_LEADER


def test_epochs_of_brokers_before_2_4_are_not_kept() -> None:
    """Metadata before version 9 may carry stale epochs (KAFKA-9212)."""
    snapshot = after(
        answer(topic("t", [partition(0, 2, 5)])),
        answer(topic("t", [partition(0, 1, 4)])),
        reliable_epochs=False,
    )
    assert snapshot.leader(T0) == LeaderAndEpoch(1, -1)


def test_another_cluster_makes_everything_known_void() -> None:
    """All brokers replaced behind the same names: epochs of the old cluster mean nothing."""
    snapshot = after(
        answer(topic("t", [partition(0, 2, 5)]), topic("u", [partition(0, 1)])),
        answer(topic("t", [partition(0, 1, 0)]), cluster_id="another"),
        partial=True,
    )
    assert snapshot.leader(T0) == LeaderAndEpoch(1, 0)
    assert set(snapshot.topics) == {"t"}


# News or no news…


def test_answers_that_say_the_same_are_equivalent() -> None:
    """Two answers with the same content count as no news (2f-9)."""
    first = after(answer(topic("t", [partition(0, 1)])))
    again = merge_metadata(first, answer(topic("t", [partition(0, 1)])), partial=False)
    assert is_equivalent(first, again)


@pytest.mark.parametrize(
    "other",
    [
        answer(topic("t", [partition(0, 2, 1)])),
        answer(topic("t", [partition(0, 1), partition(1, 1)])),
        answer(topic("t", [partition(0, 1)]), nodes=[1]),
        answer(topic("t", [partition(0, 1)]), controller_id=2),
        answer(topic("t", error_code=3)),
        answer(),
    ],
)
def test_any_difference_is_news(other: MetadataResponse) -> None:
    first = after(answer(topic("t", [partition(0, 1)])))
    assert not is_equivalent(first, merge_metadata(first, other, partial=False))


def test_forgetting_topics_leaves_the_rest_and_does_nothing_without_need() -> None:
    first = after(answer(topic("t", [partition(0, 1)]), topic("u", [partition(0, 1)])))
    assert forget_topics(first, lambda _: True) is first
    second = forget_topics(first, lambda name: name == "u")
    assert set(second.topics) == {"u"}
    assert second.topics["u"] is first.topics["u"]


def test_without_nodes_topics_stay_and_nobody_leads_them() -> None:
    """What is known of topics outlives a rebootstrap to the same cluster (KIP-1102)."""
    before = after(answer(topic("t", [partition(0, 1)], topic_id=ID_A)))
    bare = without_nodes(before)
    assert (dict(bare.nodes), bare.cluster_id) == ({}, before.cluster_id)
    assert bare.version == before.version + 1
    assert bare.partition_ids("t") == (0,)
    assert (bare.leader(T0), bare.available_partitions("t")) == (
        LeaderAndEpoch(None, before.leader(T0).epoch),
        (),
    )
    assert bare.topic_id("t") == ID_A
