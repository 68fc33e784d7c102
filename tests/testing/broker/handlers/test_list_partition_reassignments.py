"""ListPartitionReassignments: what has not ended, and nothing else."""

from aiokafka_lite.errors import NotControllerError
from aiokafka_lite.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from aiokafka_lite.testing.broker.handlers import list_partition_reassignments
from tests.testing.broker.bench import Bench


def test_what_was_asked_for_and_has_not_ended() -> None:
    bench = Bench(3)
    topic = bench.cluster.new_topic("t", assignments={index: [1] for index in range(3)})
    bench.cluster.add_topic(topic)
    bench.reassignments.hold()
    for index in (0, 2):
        bench.reassignments.start(topic.partitions[index], [2, 3])
    everything = ListPartitionReassignmentsRequest()
    some = ListPartitionReassignmentsRequest(
        topics=[
            ListPartitionReassignmentsTopics(name="t", partition_indexes=[1, 2, 9]),
            ListPartitionReassignmentsTopics(name="absent", partition_indexes=[0]),
        ]
    )
    found = []
    for request in (everything, some):
        (told,) = bench.ask(list_partition_reassignments.HANDLER, request, 0).topics
        found.append([each.partition_index for each in told.partitions])
    assert found == [[0, 2], [2]]
    (last,) = told.partitions
    assert last.replicas == [2, 3, 1]
    assert (last.adding_replicas, last.removing_replicas) == ([2, 3], [1])


def test_the_whole_response_may_be_an_error() -> None:
    bench = Bench()
    bench.faults.fail(ListPartitionReassignmentsRequest, NotControllerError)
    request = ListPartitionReassignmentsRequest()
    response = bench.ask(list_partition_reassignments.HANDLER, request, 0)
    assert response.error_code == NotControllerError.errno
