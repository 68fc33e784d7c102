"""What a broker knows of the clients that report metrics: their subscription, and when they asked.

Does not wait. Source: KIP-714, ClientMetricsManager, ClientMetricsInstance.
"""

import base64
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID
from weakref import WeakKeyDictionary

from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidRequestError,
    TelemetryTooLargeError,
    ThrottlingQuotaExceededError,
    UnknownSubscriptionIdError,
    UnsupportedCompressionTypeError,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker.security.session import Session
from aiokafka_lite.testing.broker.state.settings.client_metrics_settings import (
    CLIENT_METRICS_SETTINGS,
)

ACCEPTED: Final = (
    CompressionType.ZSTD,
    CompressionType.LZ4,
    CompressionType.GZIP,
    CompressionType.SNAPPY,
)
"""The codecs a broker names, best first. A push without compression is accepted, too."""
ALL_METRICS: Final = "*"
_RESERVED: Final = (ZERO_UUID, UUID(int=1))
_NEVER: Final = float("-inf")
_ASK_AGAIN: Final = (UnknownSubscriptionIdError, UnsupportedCompressionTypeError)
"""After these errors of a push, the client may ask for its subscription at once."""

Settings = Mapping[str, Mapping[str, str]]
"""Subscription -> its settings."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """What the cluster's subscriptions want of one client, merged."""

    subscription_id: int
    metrics: tuple[str, ...]
    push_interval_ms: int


@dataclass(slots=True, eq=False)
class _Instance:
    """One client on one connection."""

    subscription: Subscription
    settings: Settings
    asked_at_s: float = _NEVER
    pushed_at_s: float = _NEVER
    last_error: type[BrokerResponseError] | None = None
    is_terminating: bool = False

    def may_ask(self, now_s: float) -> bool:
        """Note a request for the subscription; return whether it comes late enough."""
        newest_s = max(self.asked_at_s, self.pushed_at_s)
        if (now_s - newest_s) * 1000 < self.subscription.push_interval_ms:
            return False
        self.asked_at_s = now_s
        return True

    def may_push(self, now_s: float) -> bool:
        """Note a push; return whether it comes late enough. The first one may come at once, because
        clients vary the moment of their first push.
        """
        if (now_s - self.pushed_at_s) * 1000 < self.subscription.push_interval_ms:
            return False
        self.pushed_at_s = now_s
        return True


class ClientTelemetry:
    """The clients that have asked for their subscription. A client is forgotten with its connection
    to the node.
    """

    def __init__(self, settings: Settings, max_bytes: int, rng: random.Random) -> None:
        """`settings`: the subscriptions of the cluster, as they are altered."""
        self._settings = settings
        self.max_bytes = max_bytes
        self._rng = rng
        self._instances: WeakKeyDictionary[Session, dict[UUID, _Instance]] = WeakKeyDictionary()

    def subscribe(
        self, session: Session, client_id: str, instance_id: UUID, now_s: float
    ) -> tuple[UUID, Subscription]:
        """Return the id of the client, a new one for zero, and its subscription.

        Raises: ThrottlingQuotaExceededError before the push interval is over.
        """
        if instance_id == ZERO_UUID:
            instance_id = UUID(bytes=self._rng.randbytes(16), version=4)
        instance = self._instance(session, client_id, instance_id)
        if not instance.may_ask(now_s) and instance.last_error not in _ASK_AGAIN:
            raise ThrottlingQuotaExceededError(f"client {instance_id} asks before its interval")
        instance.last_error = None
        return instance_id, instance.subscription

    def push(
        self,
        session: Session,
        client_id: str,
        instance_id: UUID,
        now_s: float,
        *,
        subscription_id: int,
        compression_type: int,
        size: int,
        terminating: bool,
    ) -> None:
        """Take in one push of `size` bytes.

        Raises: InvalidRequestError without an id, and after the last push;
        ThrottlingQuotaExceededError before the interval is over; UnknownSubscriptionIdError;
        UnsupportedCompressionTypeError; TelemetryTooLargeError.
        """
        if instance_id in _RESERVED:
            raise InvalidRequestError(f"{instance_id} is no id of a client")
        instance = self._instance(session, client_id, instance_id)
        error: BrokerResponseError | None = None
        if instance.is_terminating:
            error = InvalidRequestError(f"client {instance_id} has sent its last push before")
        elif not instance.may_push(now_s) and not terminating:
            error = ThrottlingQuotaExceededError(f"client {instance_id} pushes too early")
        elif subscription_id != instance.subscription.subscription_id:
            error = UnknownSubscriptionIdError(f"{subscription_id} is not the subscription")
        elif compression_type not in list(CompressionType):
            error = UnsupportedCompressionTypeError(f"no codec has number {compression_type}")
        elif size > self.max_bytes:
            error = TelemetryTooLargeError(f"{size} bytes, the limit is {self.max_bytes}")
        instance.is_terminating = terminating
        instance.last_error = None if error is None else type(error)
        if error is not None:
            raise error

    def _instance(self, session: Session, client_id: str, instance_id: UUID) -> _Instance:
        instances = self._instances.setdefault(session, {})
        known = instances.get(instance_id)
        if known is None or known.settings != self._settings:
            facts = {
                "client_instance_id": _text_of(instance_id),
                "client_id": client_id,
                "client_software_name": session.software[0],
                "client_software_version": session.software[1],
                "client_source_address": session.host,
                "client_source_port": str(session.port),
            }
            settings = {name: dict(each) for name, each in self._settings.items()}
            known = instances[instance_id] = _Instance(
                _merge(settings, facts, instance_id), settings
            )
        return known


def _merge(settings: Settings, facts: Mapping[str, str], instance_id: UUID) -> Subscription:
    """Return what the matching subscriptions want: all their metrics, at the shortest interval."""
    metrics: dict[str, None] = {}
    interval_ms = int(CLIENT_METRICS_SETTINGS["interval.ms"].default or 0)
    for given in settings.values():
        values = {
            name: setting.parse(given.get(name, setting.default or ""))
            for name, setting in CLIENT_METRICS_SETTINGS.items()
        }
        if all(_fits(pattern, facts) for pattern in values["match"]):
            metrics.update(dict.fromkeys(values["metrics"]))
            interval_ms = min(interval_ms, values["interval.ms"])
    names = (ALL_METRICS,) if ALL_METRICS in metrics else tuple(metrics)
    number = crc32c(f"{sorted(names)}{interval_ms}{instance_id}".encode())
    return Subscription(number - (1 << 31), names, interval_ms)


def _fits(pattern: str, facts: Mapping[str, str]) -> bool:
    name, _, expression = pattern.partition("=")
    return re.fullmatch(expression.strip(), facts[name.strip()]) is not None


def _text_of(instance_id: UUID) -> str:
    """Return the id as Kafka writes it."""
    return base64.urlsafe_b64encode(instance_id.bytes).decode().rstrip("=")


__all__ = ["ACCEPTED", "ClientTelemetry", "Subscription"]
