"""ElectLeaders: the preferred replica leads again, or any live one."""

import pytest

from aiokafka_lite.errors import (
    ElectionNotNeededError,
    EligibleLeadersNotAvailableError,
    InvalidRequestError,
    PreferredLeaderNotAvailableError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from aiokafka_lite.testing.broker.handlers import elect_leaders
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench,
    *partitions: int,
    name: str = "t",
    election_type: int = 0,
    version: int = 2,
    everything: bool = False,
) -> ElectLeadersResponse:
    asked = None if everything else [TopicPartitions(topic=name, partitions=list(partitions))]
    request = ElectLeadersRequest(election_type=election_type, topic_partitions=asked)
    return bench.ask(elect_leaders.HANDLER, request, version)


def codes(response: ElectLeadersResponse) -> list[int]:
    return [
        each.error_code
        for topic in response.replica_election_results
        for each in topic.partition_result
    ]


@pytest.mark.parametrize("version", range(3))
def test_every_version_elects_the_preferred_replica(version: int) -> None:
    bench = Bench(2)
    (partition,) = bench.topic().partitions
    bench.cluster.move_leader(TopicPartition("t", 0), 2)
    assert codes(ask(bench, 0, version=version)) == [0]
    assert partition.leader == 1
    assert codes(ask(bench, 0, version=version)) == [ElectionNotNeededError.errno]


def test_all_partitions_name_only_those_that_needed_an_election() -> None:
    bench = Bench(2)
    topic = bench.topic(partitions=3)
    bench.cluster.move_leader(TopicPartition("t", 1), 1)
    (told,) = ask(bench, everything=True).replica_election_results
    assert [each.partition_id for each in told.partition_result] == [1]
    assert [partition.leader for partition in topic.partitions] == [1, 2, 1]


def test_what_cannot_be_elected() -> None:
    bench = Bench(2)
    bench.topic()
    bench.cluster.set_alive(1, is_alive=False)
    assert codes(ask(bench, 0, 7)) == [
        PreferredLeaderNotAvailableError.errno,
        UnknownTopicOrPartitionError.errno,
    ]
    assert codes(ask(bench, 0, election_type=1)) == [ElectionNotNeededError.errno]
    bench.cluster.set_alive(2, is_alive=False)
    assert codes(ask(bench, 0, election_type=1)) == [EligibleLeadersNotAvailableError.errno]
    refused = ask(bench, 0, election_type=5)
    assert refused.error_code == InvalidRequestError.errno
    assert codes(refused) == [InvalidRequestError.errno]


def test_an_unclean_election_takes_a_replica_that_is_behind() -> None:
    bench = Bench(2)
    topic = bench.cluster.new_topic("t", assignments={0: [1]})
    bench.cluster.add_topic(topic)
    bench.reassignments.hold()
    bench.reassignments.start(topic.partitions[0], [1, 2])
    bench.cluster.set_alive(1, is_alive=False)
    assert topic.partitions[0].leader == -1
    assert codes(ask(bench, 0)) == [PreferredLeaderNotAvailableError.errno]
    assert codes(ask(bench, 0, election_type=1)) == [0]
    assert topic.partitions[0].leader == 2
