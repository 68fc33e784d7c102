"""The broker's memory of clients that report metrics ends with their connection to the node."""

import gc
import random
from uuid import UUID

import pytest

from aiokafka_lite.errors import InvalidRequestError, ThrottlingQuotaExceededError
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker.security.session import Session
from aiokafka_lite.testing.broker.state.client_telemetry import ClientTelemetry


def telemetry(**settings: dict[str, str]) -> ClientTelemetry:
    return ClientTelemetry(settings, max_bytes=100, rng=random.Random(1))


def test_a_client_is_forgotten_with_its_connection() -> None:
    telling, first = telemetry(), Session()
    me, subscription = telling.subscribe(first, "me", ZERO_UUID, 0.0)
    with pytest.raises(ThrottlingQuotaExceededError):
        telling.subscribe(first, "me", me, 1.0)
    assert telling.subscribe(Session(), "me", me, 1.0) == (me, subscription)
    del first
    gc.collect()
    assert not telling._instances


def test_the_settings_are_compared_by_value_and_an_id_is_never_zero() -> None:
    telling, session = telemetry(a={"metrics": "org.a"}), Session()
    me, first = telling.subscribe(session, "me", ZERO_UUID, 0.0)
    assert me != ZERO_UUID
    assert me.version == 4
    assert first.metrics == ("org.a",)
    assert telling.subscribe(session, "me", me, 300.0)[1] is first
    with pytest.raises(InvalidRequestError):
        telling.push(
            session,
            "me",
            UUID(int=1),
            0.0,
            subscription_id=first.subscription_id,
            compression_type=0,
            size=0,
            terminating=False,
        )
