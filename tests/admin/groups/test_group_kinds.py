"""A coordinator is asked about groups by the API of each kind in turn."""

from collections.abc import Mapping

from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.groups.group_kinds import (
    EVERY_KIND,
    SHARE,
    Described,
    describe_kind,
    describe_kinds,
)
from aiokafka_lite.errors import (
    GroupAuthorizationFailedError,
    GroupIdNotFound,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from aiokafka_lite.protocol.messages.describe_groups import DescribeGroupsRequest
from aiokafka_lite.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from aiokafka_lite.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from tests.admin.support.admin_scene import AdminScene, admin_scene

KINDS = (
    ConsumerGroupDescribeRequest,
    DescribeGroupsRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)


def node_of(scene: AdminScene) -> AskedNode:
    ends_s = scene.client.clock.monotonic() + 5
    return AskedNode(scene.client, 1, ends_s, is_repeatable=True)


async def asked(
    fault: type[Exception] | None = None, versions: Mapping[int, int | None] | None = None
) -> tuple[Described, list[int]]:
    """The answer about a group that does not exist, and how often each API was asked."""
    async with admin_scene(max_versions=versions) as scene:
        if fault is not None:
            scene.broker.faults.fail(ApiKey.CONSUMER_GROUP_DESCRIBE, fault)  # type: ignore[arg-type]
        found = await describe_kinds(node_of(scene), ["g"], EVERY_KIND)
        return found, [len(scene.asked(each)) for each in KINDS]


async def test_what_is_not_found_is_asked_for_by_each_api() -> None:
    found, counts = await asked()
    assert isinstance(found["g"], GroupIdNotFound)
    assert counts == [1, 1, 1, 1]


async def test_a_protocol_that_is_switched_off_is_no_error() -> None:
    found, counts = await asked(UnsupportedVersionError)
    assert isinstance(found["g"], GroupIdNotFound)
    assert counts == [1, 1, 1, 1]


async def test_another_error_ends_the_search() -> None:
    found, counts = await asked(GroupAuthorizationFailedError)
    assert isinstance(found["g"], GroupAuthorizationFailedError)
    assert counts == [1, 0, 0, 0]


async def test_an_api_that_the_node_lacks_is_left_out() -> None:
    versions: dict[int, int | None] = {
        ApiKey.CONSUMER_GROUP_DESCRIBE: None,
        ApiKey.SHARE_GROUP_DESCRIBE: None,
        ApiKey.STREAMS_GROUP_DESCRIBE: None,
    }
    found, counts = await asked(versions=versions)
    assert isinstance(found["g"], GroupIdNotFound)
    assert counts == [0, 1, 0, 0]


async def test_one_kind() -> None:
    async with admin_scene() as scene:
        found = await describe_kind(node_of(scene), ["g"], SHARE)
        assert isinstance(found["g"], GroupIdNotFound)
        assert len(scene.asked(ShareGroupDescribeRequest)) == 1
