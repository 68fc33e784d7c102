"""PushTelemetry: which pushes of metrics a broker takes, and which it refuses."""

from typing import Any
from uuid import UUID

from aiokafka_lite.errors import (
    InvalidRequestError,
    NotControllerError,
    TelemetryTooLargeError,
    ThrottlingQuotaExceededError,
    UnknownSubscriptionIdError,
    UnsupportedCompressionTypeError,
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


class Client:
    """A client that has asked for its subscription."""

    def __init__(self, bench: Bench) -> None:
        bench.cluster.client_metrics_settings["a"] = {"metrics": "*", "interval.ms": "1000"}
        self._bench = bench
        self._session = Session()
        self.told: GetTelemetrySubscriptionsResponse = bench.ask(
            get_telemetry_subscriptions.HANDLER,
            GetTelemetrySubscriptionsRequest(),
            0,
            session=self._session,
        )

    def push(self, **fields: Any) -> int:
        """The error code of a push."""
        request = PushTelemetryRequest(
            **{
                "client_instance_id": self.told.client_instance_id,
                "subscription_id": self.told.subscription_id,
                "compression_type": 4,
                "metrics": b"1234",
                **fields,
            }
        )
        answer = self._bench.ask(push_telemetry.HANDLER, request, 0, session=self._session)
        return answer.error_code


async def test_the_first_push_may_come_early_and_later_ones_keep_the_interval() -> None:
    bench = Bench()
    client = Client(bench)
    assert client.push() == 0, "clients vary the moment of their first push"
    await bench.clock.advance(0.9)
    assert client.push() == ThrottlingQuotaExceededError.errno
    await bench.clock.advance(0.1)
    assert client.push() == 0


async def test_the_last_push_may_come_at_any_time_and_nothing_after_it() -> None:
    bench = Bench()
    client = Client(bench)
    assert client.push() == 0
    assert client.push(terminating=True) == 0
    assert client.push(terminating=True) == InvalidRequestError.errno


async def test_what_is_refused() -> None:
    bench = Bench(telemetry_max_bytes=4)
    assert Client(bench).push() == 0
    assert Client(bench).push(metrics=b"12345") == TelemetryTooLargeError.errno
    assert Client(bench).push(compression_type=5) == UnsupportedCompressionTypeError.errno
    assert Client(bench).push(compression_type=0) == 0
    assert Client(bench).push(subscription_id=1) == UnknownSubscriptionIdError.errno
    for reserved in (ZERO_UUID, UUID(int=1)):
        assert Client(bench).push(client_instance_id=reserved) == InvalidRequestError.errno
    stranger = UUID(int=77)
    assert Client(bench).push(client_instance_id=stranger) == UnknownSubscriptionIdError.errno
    bench.faults.fail(PushTelemetryRequest, NotControllerError)
    assert Client(bench).push() == NotControllerError.errno
