"""StreamsGroupDescribe: as a broker answers that has no streams group."""

from aiokafka_lite.errors import InvalidGroupIdError, NotCoordinatorForGroupError
from aiokafka_lite.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from aiokafka_lite.testing.broker.handlers import streams_group_describe
from tests.testing.broker.bench import Bench


def test_no_group_is_found() -> None:
    bench = Bench()
    bench.groups.find_or_create("g")
    request = StreamsGroupDescribeRequest(group_ids=["g", "nowhere"])
    answer = bench.ask(streams_group_describe.HANDLER, request, 1)
    assert [(each.error_code, each.error_message) for each in answer.groups] == [
        (69, "Group g is not a streams group."),
        (69, "Group nowhere not found."),
    ]


def test_no_streams_group_is_without_a_name() -> None:
    request = StreamsGroupDescribeRequest(group_ids=[""])
    (found,) = Bench().ask(streams_group_describe.HANDLER, request, 1).groups
    assert (found.error_code, found.error_message) == (InvalidGroupIdError.errno, None)


def test_another_node_coordinates() -> None:
    bench = Bench()
    bench.faults.fail(StreamsGroupDescribeRequest, NotCoordinatorForGroupError)
    request = StreamsGroupDescribeRequest(group_ids=["g"])
    assert bench.ask(streams_group_describe.HANDLER, request, 1).groups[0].error_code == 16
