"""What the telemetry of a client does next, from what brokers say."""

import random
from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.cluster.telemetry.telemetry_state import (
    DEFAULT_INTERVAL_S,
    TelemetryProgress,
    TelemetryState,
    WantedMetrics,
)
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import (
    IllegalStateError,
    TelemetryTooLargeError,
    UnknownSubscriptionIdError,
    UnsupportedCompressionTypeError,
)
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsResponse,
)

ME = UUID(int=77)


def asking() -> TelemetryProgress:
    """Telemetry that waits for the response to its question."""
    progress = TelemetryProgress(random.Random(0))
    progress.to(TelemetryState.SUBSCRIPTION_IN_PROGRESS)
    return progress


def subscription_of(progress: TelemetryProgress, **fields: Any) -> WantedMetrics:
    told = {
        "client_instance_id": ME,
        "push_interval_ms": 10_000,
        "telemetry_max_bytes": 1000,
        "requested_metrics": ["*"],
        **fields,
    }
    progress.subscribed(GetTelemetrySubscriptionsResponse(**told), 100.0)
    assert progress.subscription is not None
    return progress.subscription


@pytest.mark.parametrize(
    ("told_ms", "used_s"), [(10_000, 10.0), (0, DEFAULT_INTERVAL_S), (-5, DEFAULT_INTERVAL_S)]
)
def test_an_interval_that_is_none_is_the_default(told_ms: int, used_s: float) -> None:
    assert subscription_of(asking(), push_interval_ms=told_ms).interval_s == used_s


def test_no_broker_makes_a_client_push_faster_than_ten_times_a_second() -> None:
    assert subscription_of(asking(), push_interval_ms=1).interval_s == 0.1


@pytest.mark.parametrize(
    ("accepted", "used"),
    [
        ([4, 3], CompressionType.ZSTD),
        ([9, -1, 1, 4], CompressionType.GZIP),
        ([9], CompressionType.NONE),
        ([], CompressionType.NONE),
    ],
)
def test_the_first_known_codec_is_used(accepted: list[int], used: CompressionType) -> None:
    assert subscription_of(asking(), accepted_compression_types=accepted).codec is used


def test_a_codec_that_was_refused_is_not_used_again() -> None:
    progress = asking()
    subscription_of(progress, accepted_compression_types=[4, 3])
    for used in (CompressionType.LZ4, CompressionType.NONE, CompressionType.NONE):
        progress.to(TelemetryState.PUSH_IN_PROGRESS)
        progress.refused(UnsupportedCompressionTypeError(), 200.0)
        progress.to(TelemetryState.SUBSCRIPTION_IN_PROGRESS)
        assert subscription_of(progress, accepted_compression_types=[4, 3]).codec is used


@pytest.mark.parametrize(
    ("names", "wanted", "left_out"),
    [
        (["*"], ["a", "b"], []),
        (["org.a", "org.b."], ["org.a", "org.ab", "org.b.c"], ["org.b", "x.org.a"]),
        ([""], ["a"], []),
    ],
)
def test_names_are_beginnings(names: list[str], wanted: list[str], left_out: list[str]) -> None:
    subscription = subscription_of(asking(), requested_metrics=names)
    assert all(subscription.wants(name) for name in wanted)
    assert not any(subscription.wants(name) for name in left_out)


def test_a_subscription_without_names_is_asked_for_again() -> None:
    progress = asking()
    assert not subscription_of(progress, requested_metrics=[]).wants_metrics
    assert progress.asks()
    assert progress.due_s == 110.0
    assert not progress.may_push_last()


def test_a_broker_that_gives_no_id_gets_no_metrics() -> None:
    progress = asking()
    progress.subscribed(GetTelemetrySubscriptionsResponse(), 100.0)
    assert progress.has_ended
    assert "no id" in str(progress.error)


def test_only_the_first_refusal_in_a_row_is_followed_at_once() -> None:
    progress = asking()
    waits = []
    for _ in range(3):
        progress.refused(UnknownSubscriptionIdError(), 50.0)
        waits.append(progress.due_s - 50.0)
        progress.to(TelemetryState.SUBSCRIPTION_IN_PROGRESS)
    assert waits == [0.0, DEFAULT_INTERVAL_S, 0.0]


def test_what_was_too_large_halves_the_limit() -> None:
    progress = asking()
    assert subscription_of(progress).max_bytes == 1000
    progress.to(TelemetryState.PUSH_IN_PROGRESS)
    progress.refused(TelemetryTooLargeError(), 200.0, size=800)
    progress.to(TelemetryState.SUBSCRIPTION_IN_PROGRESS)
    assert subscription_of(progress).max_bytes == 400


def test_a_step_that_the_table_lacks_is_an_error() -> None:
    with pytest.raises(IllegalStateError, match="cannot become PUSH_IN_PROGRESS"):
        TelemetryProgress(random.Random(0)).to(TelemetryState.PUSH_IN_PROGRESS)
