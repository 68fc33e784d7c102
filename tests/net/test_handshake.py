"""The version negotiation, step by step, without any socket (2f-6)."""

import struct

import pytest

from aiokafka_lite.errors import (
    InvalidRequestError,
    ProtocolDecodeError,
    RebootstrapRequiredError,
    UnsupportedVersionError,
)
from aiokafka_lite.net.handshake import (
    HandshakeRequest,
    HandshakeSteps,
    IntendedNode,
    negotiate_api_versions,
    software_version,
)
from aiokafka_lite.protocol.message_header import encode_response
from aiokafka_lite.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.versions import NodeApiVersions

ID = b"\0\0\0\7"
UNSUPPORTED_VERSION = 35


def start() -> tuple[HandshakeSteps[NodeApiVersions], HandshakeRequest]:
    steps = negotiate_api_versions()
    return steps, next(steps)


def finish(steps: HandshakeSteps[NodeApiVersions], frame: bytes) -> NodeApiVersions:
    with pytest.raises(StopIteration) as end:
        steps.send(memoryview(frame))
    result = end.value.value
    assert isinstance(result, NodeApiVersions)
    return result


def v0_body(error_code: int, *ranges: tuple[int, int, int]) -> bytes:
    """The answer in the layout of version 0: error code, then an array of three int16."""
    entries = b"".join(struct.pack(">hhh", *entry) for entry in ranges)
    return struct.pack(">hi", error_code, len(ranges)) + entries


def test_it_starts_at_our_newest_version_and_names_the_client_software() -> None:
    """ApiVersions is sent in the newest version and names the client software (KIP-511)."""
    _, step = start()
    assert isinstance(step.request, ApiVersionsRequest)
    assert step.version == 5
    assert step.request.client_software_name == "aiokafka-lite"
    assert step.request.client_software_version[0].isdigit()


def test_an_answer_at_our_version_ends_it() -> None:
    steps, step = start()
    answer = ApiVersionsResponse(
        api_keys=[ApiVersion(api_key=3, min_version=0, max_version=12)],
        supported_features=[
            SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1)
        ],
        finalized_features=[
            FinalizedFeatureKey(name="kraft.version", max_version_level=1, min_version_level=1)
        ],
        finalized_features_epoch=5,
    )
    parts = encode_response(answer, version=step.version, correlation_id=7)
    versions = finish(steps, b"".join(parts)[4:])
    assert versions.ranges == {3: (0, 12)}
    assert versions.finalized_level("kraft.version") == 1


def test_an_older_node_is_asked_again_at_the_version_it_names() -> None:
    """A refusal in version 0 names the version for the next question (KIP-511)."""
    steps, _ = start()
    step = steps.send(memoryview(ID + v0_body(UNSUPPORTED_VERSION, (18, 0, 2))))
    assert step.version == 2
    # Version 2: as version 0, then the throttle time.
    versions = finish(steps, ID + v0_body(0, (3, 0, 9), (18, 0, 2)) + b"\0\0\0\0")
    assert versions.ranges == {3: (0, 9), 18: (0, 2)}


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(v0_body(UNSUPPORTED_VERSION), id="names-no-range"),  # brokers before 2.4
        pytest.param(v0_body(UNSUPPORTED_VERSION, (3, 0, 9)), id="names-other-apis-only"),
        pytest.param(struct.pack(">h", UNSUPPORTED_VERSION), id="is-cut-off"),
        pytest.param(v0_body(UNSUPPORTED_VERSION) + b"\0" * 5, id="has-trailing-bytes"),
        pytest.param(v0_body(UNSUPPORTED_VERSION, (18, -3, -1)), id="names-a-negative-version"),
    ],
)
def test_a_refusal_without_a_usable_range_leads_to_version_0(refusal: bytes) -> None:
    steps, _ = start()
    step = steps.send(memoryview(ID + refusal))
    assert step.version == 0
    assert finish(steps, ID + v0_body(0, (18, 0, 0))).ranges == {18: (0, 0)}


def test_an_answer_that_cannot_be_read_leads_to_version_0() -> None:
    """librdkafka's mock cluster leaves out the tag bytes of the entries."""
    steps, _ = start()
    without_tags = ID + struct.pack(">hb", 0, 2) + struct.pack(">hhh", 3, 0, 9) + b"\0\0\0\0\0"
    step = steps.send(memoryview(without_tags))
    assert step.version == 0
    assert finish(steps, ID + v0_body(0, (3, 0, 9))).ranges == {3: (0, 9)}


def test_an_answer_with_bytes_behind_it_is_read() -> None:
    """Java's client steps over them, too."""
    steps, step = start()
    apis = [
        ApiVersion(api_key=3, min_version=0, max_version=12),
        ApiVersion(api_key=18, min_version=0, max_version=5),
    ]
    parts = encode_response(
        ApiVersionsResponse(api_keys=apis), version=step.version, correlation_id=7
    )
    assert finish(steps, b"".join(parts)[4:] + b"\0").ranges == {3: (0, 12), 18: (0, 5)}


@pytest.mark.parametrize("answer", ["002301001200000002" + "00" * 8, "000002" + "0003000000090000"])
def test_a_node_with_a_layout_of_its_own_is_asked_in_versions_without_tags(
    answer: str, caplog: pytest.LogCaptureFixture
) -> None:
    """As librdkafka's mock cluster: it reads JoinGroup 6 as if it were JoinGroup 5."""
    steps, _ = start()
    step = steps.send(memoryview(ID + bytes.fromhex(answer)))
    assert step.version == 0
    ranges = ((11, 0, 9), (12, 0, 2), (68, 0, 1))
    versions = finish(steps, ID + v0_body(0, *ranges))
    assert versions.pick(JoinGroupRequest) == 5
    assert versions.pick(HeartbeatRequest) == 2
    assert versions.pick(ConsumerGroupHeartbeatRequest) == 1, "all its versions have tags"
    assert "The node was asked in version 0" in caplog.text


def test_a_node_that_keeps_refusing_is_asked_ever_lower_and_then_given_up() -> None:
    steps, step = start()
    asked = [step.version]
    refusal = memoryview(ID + v0_body(UNSUPPORTED_VERSION, (18, 0, 32_000)))
    while asked[-1] > 0:
        asked.append(steps.send(refusal).version)
    assert asked == [5, 4, 3, 2, 1, 0]
    with pytest.raises(UnsupportedVersionError, match="even version 0"):
        steps.send(refusal)


def test_another_error_ends_it_with_its_own_class() -> None:
    steps, _ = start()
    refusal = ApiVersionsResponse(error_code=InvalidRequestError.errno, api_keys=[])
    parts = encode_response(refusal, version=5, correlation_id=7)
    with pytest.raises(InvalidRequestError, match="ApiVersions"):
        steps.send(memoryview(b"".join(parts)[4:]))


@pytest.mark.parametrize("frame", [b"", ID, ID + b"\0"])
def test_a_frame_too_short_for_any_answer_is_a_decode_error(frame: bytes) -> None:
    steps, _ = start()
    with pytest.raises(ProtocolDecodeError, match="too few"):
        steps.send(memoryview(frame))


def test_an_answer_at_version_0_that_cannot_be_read_ends_it() -> None:
    steps = negotiate_api_versions()
    next(steps)
    steps.send(memoryview(ID + v0_body(UNSUPPORTED_VERSION)))
    with pytest.raises(ProtocolDecodeError):
        steps.send(memoryview(ID + v0_body(0, (3, 0, 9))[:-1]))


@pytest.mark.parametrize(
    ("version", "sent"),
    [("1.2.3", "1.2.3"), ("1.0.dev3+g1f.d", "1.0.dev3-g1f.d"), ("1.0-", "1.0"), ("+", "unknown")],
)
def test_the_software_version_is_written_in_the_alphabet_brokers_accept(
    version: str, sent: str
) -> None:
    assert software_version(version) == sent


def test_the_node_that_is_meant_is_named_and_another_one_refuses() -> None:
    """ApiVersions names the cluster and node that are meant; another node refuses (KIP-1242)."""
    steps = negotiate_api_versions(intended=IntendedNode("cluster", 3))
    step = next(steps)
    assert isinstance(step.request, ApiVersionsRequest)
    assert (step.request.cluster_id, step.request.node_id) == ("cluster", 3)
    refusal = ApiVersionsResponse(error_code=RebootstrapRequiredError.errno, api_keys=[])
    parts = encode_response(refusal, version=step.version, correlation_id=7)
    with pytest.raises(RebootstrapRequiredError):
        steps.send(memoryview(b"".join(parts)[4:]))


def test_a_node_of_unknown_name_may_be_any() -> None:
    _, step = start()
    assert isinstance(step.request, ApiVersionsRequest)
    assert (step.request.cluster_id, step.request.node_id) == (None, -1)
