"""GetTelemetrySubscriptions: what the cluster's subscriptions want of a client, merged."""

from uuid import UUID

from aiokafka_lite.errors import (
    NotControllerError,
    ThrottlingQuotaExceededError,
    UnknownSubscriptionIdError,
)
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from aiokafka_lite.protocol.messages.push_telemetry import PushTelemetryRequest
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker.handlers import get_telemetry_subscriptions, push_telemetry
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench, session: Session, instance_id: UUID = ZERO_UUID
) -> GetTelemetrySubscriptionsResponse:
    request = GetTelemetrySubscriptionsRequest(client_instance_id=instance_id)
    return bench.ask(get_telemetry_subscriptions.HANDLER, request, 0, session=session)


async def test_without_a_subscription_no_metric_is_wanted() -> None:
    bench = Bench(telemetry_max_bytes=1000)
    answer = ask(bench, Session())
    assert answer.error_code == 0
    assert answer.client_instance_id != ZERO_UUID
    assert answer.requested_metrics == []
    assert answer.push_interval_ms == 300_000
    assert answer.telemetry_max_bytes == 1000
    assert answer.accepted_compression_types == [4, 3, 1, 2]
    assert answer.delta_temporality
    assert ask(bench, Session()).client_instance_id != answer.client_instance_id


async def test_matching_subscriptions_are_merged_at_the_shortest_interval() -> None:
    bench = Bench()
    subscriptions = bench.cluster.client_metrics_settings
    subscriptions["a"] = {"metrics": "org.a,org.b", "interval.ms": "5000", "match": "client_id=m."}
    subscriptions["b"] = {"metrics": "org.b,org.c", "interval.ms": "7000"}
    subscriptions["c"] = {"metrics": "org.d", "interval.ms": "100", "match": "client_id=m"}
    answer = ask(bench, Session())
    assert answer.requested_metrics == ["org.a", "org.b", "org.c"]
    assert answer.push_interval_ms == 5000
    subscriptions["d"] = {"metrics": "*", "match": "client_id=me,client_software_name=x-.*"}
    assert ask(bench, Session()).requested_metrics == ["org.a", "org.b", "org.c"]
    session = Session(host="10.0.0.1", port=99)
    session.software = ("x-lib", "1.0")
    assert ask(bench, session).requested_metrics == ["*"]
    subscriptions.clear()
    subscriptions["e"] = {
        "metrics": "org.e",
        "match": "client_source_port=99,client_source_address=10\\..*,client_software_version=1.0",
    }
    assert ask(bench, session).requested_metrics == ["org.e"]
    assert ask(bench, Session()).requested_metrics == []


async def test_a_client_keeps_its_id_and_its_subscription_until_that_changes() -> None:
    bench = Bench()
    settings = bench.cluster.client_metrics_settings
    settings["a"] = {"metrics": "org.a", "interval.ms": "1000"}
    session = Session()
    first = ask(bench, session)
    await bench.clock.advance(1.0)
    again = ask(bench, session, first.client_instance_id)
    assert again == first
    pattern = f"client_instance_id={'.' * 22}"
    settings["b"] = {"metrics": "org.b", "match": pattern}
    changed = ask(bench, session, first.client_instance_id)
    assert changed.error_code == 0, "a change is told at once"
    assert changed.client_instance_id == first.client_instance_id
    assert changed.subscription_id != first.subscription_id
    assert changed.requested_metrics == ["org.a", "org.b"]


async def test_before_the_interval_is_over_the_client_has_to_wait() -> None:
    bench, session = Bench(), Session()
    bench.cluster.client_metrics_settings["a"] = {"metrics": "*", "interval.ms": "1000"}
    first = ask(bench, session)
    await bench.clock.advance(0.9)
    assert ask(bench, session, first.client_instance_id).error_code == (
        ThrottlingQuotaExceededError.errno
    )
    assert ask(bench, Session(), first.client_instance_id).error_code == 0, "another connection"
    push = PushTelemetryRequest(client_instance_id=first.client_instance_id, subscription_id=1)
    refused = bench.ask(push_telemetry.HANDLER, push, 0, session=session)
    assert refused.error_code == UnknownSubscriptionIdError.errno
    assert ask(bench, session, first.client_instance_id).error_code == 0, "it needs its id"
    bench.faults.fail(GetTelemetrySubscriptionsRequest, NotControllerError)
    assert ask(bench, Session()).error_code == NotControllerError.errno
