"""ShareGroupDescribe: as a broker answers that has no share group."""

from aiokafka_lite.errors import InvalidGroupIdError, NotCoordinatorForGroupError
from aiokafka_lite.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from aiokafka_lite.testing.broker.handlers import share_group_describe
from tests.testing.broker.bench import Bench


def test_no_group_is_found() -> None:
    bench = Bench()
    bench.groups.find_or_create("g")
    request = ShareGroupDescribeRequest(group_ids=["g", "nowhere"])
    answer = bench.ask(share_group_describe.HANDLER, request, 1)
    assert [(each.error_code, each.error_message) for each in answer.groups] == [
        (69, "Group g is not a share group."),
        (69, "Group nowhere not found."),
    ]


def test_no_share_group_is_without_a_name() -> None:
    request = ShareGroupDescribeRequest(group_ids=[""])
    (found,) = Bench().ask(share_group_describe.HANDLER, request, 1).groups
    assert (found.error_code, found.error_message) == (InvalidGroupIdError.errno, None)


def test_another_node_coordinates() -> None:
    bench = Bench()
    bench.faults.fail(ShareGroupDescribeRequest, NotCoordinatorForGroupError)
    request = ShareGroupDescribeRequest(group_ids=["g"])
    assert bench.ask(share_group_describe.HANDLER, request, 1).groups[0].error_code == 16
