"""kio, whose classes are generated from Apache's JSON, as a second witness of our bytes.

A message of ours is encoded, read by kio, written by kio, and must come back byte for byte;
decoding those bytes gives the message again. kio lacks the versions of Kafka 4.4, which are
compared with the JSON only.
"""

import io
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.index import UnknownAPIKey, UnknownEntity, load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.api_registry import API_BY_KEY
from aiokafka_lite.schema.message import ApiMessage
from tests.support.strategies import messages, rich_message

# kio turns error codes into an enum and times into datetime and timedelta: only codes it knows, and
# times those types hold to the millisecond, can pass.
ERROR_CODES = st.sampled_from([code.value for code in ErrorCode])
NARROWED = {
    "error_code": ERROR_CODES,
    "partition_error_code": ERROR_CODES,
    "topic_config_error_code": ERROR_CODES,
    "log_append_time_ms": st.just(-1) | st.integers(0, 4_000_000_000_000),
    "session_lifetime_ms": st.integers(0, 4_000_000_000_000),
    "retention_time_ms": st.integers(-1, 4_000_000_000_000),
    "max_lifetime_ms": st.integers(-1, 4_000_000_000_000),
    "renew_period_ms": st.integers(-1, 4_000_000_000_000),
    "expiry_time_period_ms": st.integers(-1, 4_000_000_000_000),
    "issue_timestamp_ms": st.integers(0, 4_000_000_000_000),
    "expiry_timestamp_ms": st.integers(0, 4_000_000_000_000),
    "transaction_start_time_ms": st.integers(0, 4_000_000_000_000),
    "max_timestamp_ms": st.integers(0, 4_000_000_000_000),
}


NEWEST_OF_KIO: dict[int, int] = {
    ApiKey.API_VERSIONS: 4,
    ApiKey.TXN_OFFSET_COMMIT: 5,
    ApiKey.DELETE_GROUPS: 2,
    ApiKey.STREAMS_GROUP_DESCRIBE: 0,
    ApiKey.UNREGISTER_CONTROLLER: -1,
}
"""Where it is not our newest."""


@cache
def narrowed_messages(ours: type[ApiMessage], version: int) -> st.SearchStrategy[Any]:
    return messages(ours, version, NARROWED)


@cache
def _kio_type(ours: type[ApiMessage], version: int) -> Any:
    load = load_request_schema if issubclass(ours, _REQUESTS) else load_response_schema
    return load(ours.api_key, version)


_REQUESTS = tuple(api.request for api in API_BY_KEY.values())
WITNESSED = [
    pytest.param(side, id=side.__name__)
    for api in API_BY_KEY.values()
    for side in (api.request, api.response)
    if NEWEST_OF_KIO.get(side.api_key, 0) >= 0
]


def witnessed_versions(ours: type[ApiMessage]) -> range:
    """The versions we declare that kio has, too."""
    return range(ours.versions.min, min(ours.versions.max, NEWEST_OF_KIO.get(ours.api_key, 99)) + 1)


def _through_kio(raw: bytes, kio_type: Any) -> bytes:
    entity, size = entity_reader(kio_type)(raw, 0)
    assert size == len(raw), "kio did not read all of it"
    out = io.BytesIO()
    entity_writer(kio_type)(out, entity)
    return out.getvalue()


def _assert_same_through_kio(message: ApiMessage, version: int) -> None:
    raw = b"".join(message.encode(version))
    assert _through_kio(raw, _kio_type(type(message), version)) == raw
    assert type(message).decode(raw, version) == message


@pytest.mark.parametrize("ours", WITNESSED)
def test_every_field_of_every_version_passes_through_kio(ours: type[ApiMessage]) -> None:
    for version in witnessed_versions(ours):
        _assert_same_through_kio(rich_message(ours, version), version)
        _assert_same_through_kio(ours(), version)


@pytest.mark.parametrize("ours", WITNESSED)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_message_passes_through_kio(ours: type[ApiMessage], data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(witnessed_versions(ours)), label="version")
    _assert_same_through_kio(data.draw(narrowed_messages(ours, version)), version)


@pytest.mark.parametrize("key", NEWEST_OF_KIO, ids=lambda key: key.name)
def test_kio_lacks_what_is_left_out(key: ApiKey) -> None:
    """Once a newer kio has it, it is a witness again."""
    with pytest.raises((UnknownEntity, UnknownAPIKey)):
        load_request_schema(key, NEWEST_OF_KIO[key] + 1)
