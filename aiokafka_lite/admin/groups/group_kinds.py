"""Asks a coordinator about groups whose kind is not known: each kind has an API of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.groups.group_descriptions import (
    classic_group,
    consumer_group,
    share_group,
)
from aiokafka_lite.admin.groups.group_values import GroupDescription
from aiokafka_lite.admin.groups.streams_group import streams_group
from aiokafka_lite.errors import (
    GroupIdNotFound,
    InvalidGroupIdError,
    KafkaError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from aiokafka_lite.protocol.messages.describe_groups import DescribeGroupsRequest
from aiokafka_lite.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from aiokafka_lite.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from aiokafka_lite.schema.message import Request

Described = dict[str, GroupDescription | KafkaError]


class GroupKind(NamedTuple):
    """How groups of one kind are described."""

    request_type: type[Request[Any]]
    request: Callable[[list[str]], Request[Any]]
    read: Callable[[Any, int], GroupDescription | KafkaError]


SHARE: Final = GroupKind(
    ShareGroupDescribeRequest,
    lambda group_ids: ShareGroupDescribeRequest(group_ids=group_ids),
    share_group,
)
STREAMS: Final = GroupKind(
    StreamsGroupDescribeRequest,
    lambda group_ids: StreamsGroupDescribeRequest(group_ids=group_ids),
    streams_group,
)
STREAMS_WITH_TOPOLOGY: Final = STREAMS._replace(
    request=lambda group_ids: StreamsGroupDescribeRequest(
        group_ids=group_ids, include_topology_description=True
    )
)
"""Groups with their topologies."""
EVERY_KIND: Final = (
    GroupKind(
        ConsumerGroupDescribeRequest,
        lambda group_ids: ConsumerGroupDescribeRequest(group_ids=group_ids),
        consumer_group,
    ),
    GroupKind(
        DescribeGroupsRequest,
        lambda group_ids: DescribeGroupsRequest(groups=group_ids),
        classic_group,
    ),
    SHARE,
    STREAMS,
)
"""In the order in which a coordinator is asked."""

_SAYS_NOTHING: Final = (InvalidGroupIdError, UnsupportedVersionError)
"""Only a classic group may have the name "", so the APIs of the other kinds refuse it."""
_OF_ANOTHER_KIND: Final = (GroupIdNotFound, *_SAYS_NOTHING)


async def describe_kinds(
    node: AskedNode, group_ids: list[str], kinds: Sequence[GroupKind]
) -> Described:
    """Return each group as the first of some kinds that it has, or its error.

    A kind whose API the node lacks is left out.

    If the cluster has switched a kind off, a missing group has GroupIdNotFound all the same.

    Raises: as `AskedNode.request`.
    """
    found: Described = {}
    left = group_ids
    for kind in kinds:
        if not left or await node.version_of(kind.request_type) is None:
            continue
        for key, each in (await describe_kind(node, left, kind)).items():
            if not (
                isinstance(each, _SAYS_NOTHING) and isinstance(found.get(key), GroupIdNotFound)
            ):
                found[key] = each
        left = [key for key in left if isinstance(found.get(key), _OF_ANOTHER_KIND)]
    return found


async def describe_kind(node: AskedNode, group_ids: list[str], kind: GroupKind) -> Described:
    """Return groups of one kind. A group of another kind has GroupIdNotFound as its error.

    Raises: as `AskedNode.request`.
    """
    assert node.node_id is not None  # a coordinator
    response = await node.request(kind.request(group_ids))
    return {each.group_id: kind.read(each, node.node_id) for each in response.groups}


__all__ = [
    "EVERY_KIND",
    "SHARE",
    "STREAMS",
    "STREAMS_WITH_TOPOLOGY",
    "GroupKind",
    "describe_kind",
    "describe_kinds",
]
