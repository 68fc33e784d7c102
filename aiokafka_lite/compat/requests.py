"""Requests of aiokafka's protocol: how they are made in a version, and how they are sent.

Faust, Karapace and others make them for `client.send(node_id, request)`, and read the response by
aiokafka's names of the fields. `wire` has their types.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature
from typing import Any, Final

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.compat.wire import Request, RequestStruct
from aiokafka_lite.errors import IncompatibleBrokerVersion, ProtocolDecodeError
from aiokafka_lite.schema import message
from aiokafka_lite.schema.version_range import VersionRange

_SINCE: Final[Mapping[str, Mapping[str, int]]] = {
    "CreateTopicsRequest": {"validate_only": 1},
    "DescribeConfigsRequest": {"include_synonyms": 1},
    "DescribeGroupsRequest": {"include_authorized_operations": 3},
    "FindCoordinatorRequest": {"coordinator_type": 1},
    "OffsetRequest": {"isolation_level": 2},
    "ProduceRequest": {"transactional_id": 3},
}
"""The first version that has a parameter. Older ones refuse a value."""
_LEFT_OUT_BEFORE: Final[Mapping[str, Mapping[str, int]]] = {
    "CreateAclsRequest": {"resource_pattern_type_filter": 1},
    "DeleteAclsRequest": {"resource_pattern_type_filter": 1},
    "DescribeAclsRequest": {"resource_pattern_type_filter": 1},
    "JoinGroupRequest": {"rebalance_timeout": 1, "group_instance_id": 3},
    "MetadataRequest": {"allow_auto_topic_creation": 4},
    "SyncGroupRequest": {"group_instance_id": 3},
}
"""The first version that has a parameter. Older ones go without it."""


# Making them…


def request_builder(
    name: str, key: int, classes: Sequence[type[RequestStruct]], parameters: Sequence[Parameter]
) -> dict[str, Any]:
    """Return the body of the class of a request whose version is chosen when it is sent."""
    signature = Signature(parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        self._arguments = dict(given.arguments)
        vars(self).update({f"_{each}": value for each, value in given.arguments.items()})

    def argument(self: Any, attribute: str) -> Any:
        arguments = vars(self).get("_arguments", {})
        if attribute in arguments:
            return arguments[attribute]
        raise AttributeError(f"{name!r} object has no attribute {attribute!r}")

    def build(self: Any, request_struct_class: Any) -> Any:
        return request_struct_class(
            *_fields(name, self._arguments, request_struct_class.API_VERSION)
        )

    return {
        "API_KEY": key,
        "_CLASSES": tuple(classes),
        "__init__": __init__,
        "__getattr__": argument,
        "__signature__": signature,
        "build": build,
    }


def _fields(name: str, arguments: Mapping[str, Any], version: int) -> list[Any]:
    """Return the fields of a request in a version. Raises: IncompatibleBrokerVersion."""
    left = dict(arguments)
    for parameter, since in _LEFT_OUT_BEFORE.get(name, {}).items():
        if version < since:
            del left[parameter]
    for parameter, since in _SINCE.get(name, {}).items():
        if version < since and left.pop(parameter):
            raise IncompatibleBrokerVersion(f"{parameter} requires {name} >= v{since}")
    special = _SPECIAL.get(name)
    return [*left.values()] if special is None else special(left, version)


def _metadata(left: dict[str, Any], version: int) -> list[Any]:
    topics = left["topics"]
    if version >= 4:
        allowed = left["allow_auto_topic_creation"]
        return [topics, True if allowed is None else allowed]
    return [topics or []] if version < 1 else [topics]


def _acls(left: dict[str, Any], version: int) -> list[Any]:  # noqa: ARG001 - as the others
    return [[tuple(left.values())]]


def _deleted_records(left: dict[str, Any], version: int) -> list[Any]:
    topics, timeout_ms, tags = left.values()
    if version < 2:
        if tags is not None:
            raise IncompatibleBrokerVersion("tags requires DeleteRecordsRequest >= v2")
        return [[(topic, list(partitions)) for topic, partitions in topics], timeout_ms]
    tagged: list[Any] = [
        (topic, [(partition, offset, {}) for partition, offset in partitions], {})
        for topic, partitions in topics
    ]
    return [tagged, timeout_ms, tags or {}]


def _offset_fetch(left: dict[str, Any], version: int) -> list[Any]:
    if version < 2 and left["partitions"] is None:
        raise IncompatibleBrokerVersion(
            "OffsetFetchRequest < v2 requires specifying the partitions for which to fetch offsets"
        )
    return [*left.values()]


def _list_offsets(left: dict[str, Any], version: int) -> list[Any]:
    if version > 0:
        return [*left.values()]
    topics = left["topics"]
    if any(timestamp >= 0 for _, partitions in topics for _, timestamp in partitions):
        raise IncompatibleBrokerVersion("search by timestamp requires OffsetRequest >= v1")
    one_each = [
        (topic, [(partition, timestamp, 1) for partition, timestamp in partitions])
        for topic, partitions in topics
    ]
    return [left["replica_id"], one_each]


def _fetch(left: dict[str, Any], version: int) -> list[Any]:
    wait_ms, min_bytes, max_bytes, isolation_level, topics, rack_id = left.values()
    fields = [-1, wait_ms, min_bytes]
    if version >= 3:
        fields.append(max_bytes)
    if version >= 4:
        fields.append(isolation_level)
    elif isolation_level:
        raise IncompatibleBrokerVersion("isolation_level requires FetchRequest >= v4")
    if version >= 5:
        epoch = [-1] if version >= 9 else []
        topics = [
            (topic, [(number, *epoch, offset, -1, size) for number, offset, size in partitions])
            for topic, partitions in topics
        ]
    if version >= 7:
        fields += [0, -1]  # no session
    fields.append(topics)
    if version >= 7:
        fields.append([])
    return [*fields, rack_id] if version >= 11 else fields


_SPECIAL: Final[Mapping[str, Callable[[dict[str, Any], int], list[Any]]]] = {
    "CreateAclsRequest": _acls,
    "DeleteAclsRequest": _acls,
    "DeleteRecordsRequest": _deleted_records,
    "FetchRequest": _fetch,
    "MetadataRequest": _metadata,
    "OffsetFetchRequest": _offset_fetch,
    "OffsetRequest": _list_offsets,
}


# Sending them…


async def send_request(
    kafka: KafkaClient, node_id: int, request: Request[Any] | RequestStruct, lane: Lane
) -> Any:
    """Send a request to a node; return its response, a struct; None if it has no response.

    Raises: as `NetworkClient.request`; IncompatibleBrokerVersion or NotImplementedError if the node
    has none of its versions; ProtocolDecodeError for a response of another form.
    """
    if isinstance(request, Request):
        await kafka.network.connect(node_id, lane)
        struct: RequestStruct = request.prepare(kafka.network.version_ranges(node_id))
    else:
        struct = request
    sent = _sent_class(type(struct))(struct)
    if struct.API_KEY == 0 and not struct.get_item("required_acks"):
        return await kafka.network.post(node_id, sent, lane=lane)
    return await kafka.network.request(node_id, sent, lane=lane)


@cache
def _sent_class(kind: type[RequestStruct]) -> Callable[[RequestStruct], message.Request[Any]]:
    """Return the class that goes over the wire in place of one of aiokafka's.

    It has what the connection uses of a message, and none of the fields that a message declares.
    """
    versions = VersionRange(kind.API_VERSION, kind.API_VERSION)
    of_api = {
        "api_key": kind.API_KEY,
        "needs": "",
        "versions": versions,
        "flexible": versions if kind.FLEXIBLE_VERSION else VersionRange.NONE,
    }
    reads = {"decode": _decoder(kind), "decode_leniently": lambda *_: None}
    response = type(kind.RESPONSE_TYPE.__name__, (), {**of_api, **reads})
    body = {**of_api, "response_type": response, "encode": _encode, "__init__": _hold}
    return type(kind.__name__, (), body)


def _hold(self: Any, struct: RequestStruct) -> None:
    self.struct = struct


def _encode(self: Any, version: int) -> Parts:  # noqa: ARG001 - there is one
    return [self.struct.encode()]


def _decoder(kind: type[RequestStruct]) -> Callable[[memoryview | bytes, int], Any]:
    @staticmethod  # type: ignore[misc]  # it becomes a method of a class
    def decode(view: memoryview | bytes, version: int) -> Any:  # noqa: ARG001 - there is one
        try:
            return kind.RESPONSE_TYPE.decode(bytes(view))
        except (ValueError, UnicodeDecodeError) as error:
            raise ProtocolDecodeError(f"a {kind.RESPONSE_TYPE.__name__} cannot be read") from error

    return decode


__all__ = ["request_builder", "send_request"]
