"""The list of APIs: what is promised is there, and each declaration explains itself."""

from collections.abc import Iterator

import pytest

from aiokafka_lite.protocol.api_registry import API_BY_KEY, Api, ApiKey, api_name
from aiokafka_lite.schema.field_types import ArrayOf
from aiokafka_lite.schema.versioned_struct import Struct, fields_of


def test_versions_are_those_promised() -> None:
    assert {api.name: str(api.versions) for api in API_BY_KEY.values()} == {
        "Produce": "3-13",
        "Fetch": "4-18",
        "ListOffsets": "1-11",
        "Metadata": "1-13",
        "OffsetCommit": "2-10",
        "OffsetFetch": "1-10",
        "FindCoordinator": "0-6",
        "JoinGroup": "0-9",
        "Heartbeat": "0-4",
        "LeaveGroup": "0-5",
        "SyncGroup": "0-5",
        "SaslHandshake": "0-1",
        "ApiVersions": "0-5",
        "CreateTopics": "2-7",
        "DeleteTopics": "1-6",
        "InitProducerId": "0-5",
        "OffsetForLeaderEpoch": "2-4",
        "AddPartitionsToTxn": "0-5",
        "AddOffsetsToTxn": "0-4",
        "EndTxn": "0-5",
        "TxnOffsetCommit": "0-6",
        "SaslAuthenticate": "0-2",
        "CreatePartitions": "0-3",
        "DescribeCluster": "0-2",
    }


@pytest.mark.parametrize("api", API_BY_KEY.values(), ids=lambda api: api.name)
def test_request_and_response_agree(api: Api) -> None:
    assert api.request.api_key == api.response.api_key == api.key
    assert api.request.versions == api.response.versions == api.versions
    assert api.request.flexible == api.response.flexible
    assert api.response.__name__ == f"{api.name}Response"
    assert api.request.response_type is api.response


def test_every_key_has_a_name_for_logs() -> None:
    assert api_name(ApiKey.LIST_OFFSETS) == "ListOffsets"
    assert api_name(ApiKey.SHARE_FETCH) == "ShareFetch"
    assert api_name(999) == "API 999"


def structs_of(cls: type[Struct]) -> Iterator[type[Struct]]:
    yield cls
    for item in fields_of(cls):
        element = item.type.element if isinstance(item.type, ArrayOf) else item.type
        if isinstance(element, type):
            yield from structs_of(element)


@pytest.mark.parametrize("api", API_BY_KEY.values(), ids=lambda api: api.name)
def test_every_struct_and_field_says_what_it_is_in_a_sentence(api: Api) -> None:
    for side in (api.request, api.response):
        for cls in structs_of(side):
            assert cls.__doc__, cls.__name__
            for item in fields_of(cls):
                assert item.doc.endswith("."), f"{cls.__name__}.{item.name}: {item.doc!r}"
