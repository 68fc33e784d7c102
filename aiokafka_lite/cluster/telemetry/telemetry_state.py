"""Decides what the telemetry of a client does next, and when: ask for a subscription, or push.

Does not wait. Source: KIP-714, ClientTelemetryReporter, ClientTelemetryState, ClientTelemetryUtils.
"""

import random
from collections.abc import Iterable
from enum import Enum
from typing import Final

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.concurrency.life import Life
from aiokafka_lite.errors import (
    BrokerResponseError,
    IllegalStateError,
    KafkaError,
    TelemetryTooLargeError,
    ThrottlingQuotaExceededError,
    UnknownSubscriptionIdError,
    UnsupportedCompressionTypeError,
)
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsResponse,
)
from aiokafka_lite.schema.field_types import ZERO_UUID

DEFAULT_INTERVAL_S: Final = 300.0
"""Between two requests while no subscription names an interval."""
SHORTEST_INTERVAL_S: Final = 0.1
"""The shortest interval that a subscription of Kafka can have. No broker makes a client faster."""
FIRST_PUSH: Final = (0.5, 1.5)
"""The first push comes after so many intervals, so that clients started together spread out."""

_AT_ONCE: Final = (UnknownSubscriptionIdError, UnsupportedCompressionTypeError)
"""After these errors the client asks for its subscription again at once, though only once."""
_LATER: Final = (TelemetryTooLargeError, ThrottlingQuotaExceededError)
"""After these errors it asks again after an interval. Any other error ends the telemetry."""


class TelemetryState(Enum):
    """The states of a client's telemetry."""

    SUBSCRIPTION_NEEDED = "needs a subscription"
    SUBSCRIPTION_IN_PROGRESS = "asks for its subscription"
    PUSH_NEEDED = "pushes next"
    PUSH_IN_PROGRESS = "pushes"
    TERMINATING_PUSH_NEEDED = "has a last push to send"
    TERMINATING_PUSH_IN_PROGRESS = "sends its last push"
    TERMINATED = "has ended"


S = TelemetryState
MAY_FOLLOW: dict[TelemetryState, frozenset[TelemetryState]] = {
    S.SUBSCRIPTION_NEEDED: frozenset({S.SUBSCRIPTION_IN_PROGRESS, S.TERMINATED}),
    S.SUBSCRIPTION_IN_PROGRESS: frozenset({S.PUSH_NEEDED, S.SUBSCRIPTION_NEEDED, S.TERMINATED}),
    S.PUSH_NEEDED: frozenset({S.PUSH_IN_PROGRESS, S.TERMINATING_PUSH_NEEDED, S.TERMINATED}),
    S.PUSH_IN_PROGRESS: frozenset(
        {S.PUSH_NEEDED, S.SUBSCRIPTION_NEEDED, S.TERMINATING_PUSH_NEEDED, S.TERMINATED}
    ),
    S.TERMINATING_PUSH_NEEDED: frozenset({S.TERMINATING_PUSH_IN_PROGRESS, S.TERMINATED}),
    S.TERMINATING_PUSH_IN_PROGRESS: frozenset({S.TERMINATED}),
    S.TERMINATED: frozenset({S.TERMINATED}),
}
"""State -> the states that may come next."""


@dataclass(frozen=True, slots=True)
class WantedMetrics:
    """What the brokers want of this client."""

    subscription_id: int
    interval_s: float
    codec: CompressionType
    max_bytes: int
    is_delta: bool
    """Whether sums count from the push before; otherwise from the start of the client."""
    prefixes: tuple[str, ...] | None
    """Beginnings of the names of metrics; None: all."""

    @property
    def wants_metrics(self) -> bool:
        """Whether it asks for any metric."""
        return self.prefixes is None or bool(self.prefixes)

    def wants(self, name: str) -> bool:
        """Whether it asks for the metric of this name."""
        return self.prefixes is None or name.startswith(self.prefixes)


class TelemetryProgress(Life[TelemetryState]):
    """How far the telemetry of one client is. Times are seconds of the client's monotonic clock."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(MAY_FOLLOW, TelemetryState.SUBSCRIPTION_NEEDED)
        self.instance_id = ZERO_UUID
        """The id that a broker gave to this client; zero until then."""
        self.subscription: WantedMetrics | None = None
        self.due_s = 0.0
        """When the next request may be sent."""
        self.error: BaseException | None = None
        """Why the telemetry has ended early."""
        self._rng = rng
        self._asks_at_once = True
        self._refused_codecs: set[CompressionType] = set()
        self._size_limit: int | None = None

    def refusal(self, state: TelemetryState, /) -> Exception:
        """Return an IllegalStateError."""
        return IllegalStateError(f"telemetry that {self.state.value} cannot become {state.name}")

    @property
    def has_ended(self) -> bool:
        """Whether nothing more is sent."""
        return self.state is TelemetryState.TERMINATED

    @property
    def _interval_s(self) -> float:
        return DEFAULT_INTERVAL_S if self.subscription is None else self.subscription.interval_s

    def asks(self) -> bool:
        """Whether the next request is for the subscription; otherwise it is a push."""
        return self.state is TelemetryState.SUBSCRIPTION_NEEDED

    def subscribed(self, response: GetTelemetrySubscriptionsResponse, now_s: float) -> None:
        """Take over a subscription. The first push comes at a moment of chance."""
        if response.client_instance_id == ZERO_UUID:
            self.give_up(KafkaError("the broker has given this client no id for its metrics"))
            return
        self.instance_id = response.client_instance_id
        codec = _first_of(response.accepted_compression_types, self._refused_codecs)
        interval_s = response.push_interval_ms / 1000
        names = response.requested_metrics
        self.subscription = subscription = WantedMetrics(
            response.subscription_id,
            max(interval_s, SHORTEST_INTERVAL_S) if interval_s > 0 else DEFAULT_INTERVAL_S,
            codec,
            min(response.telemetry_max_bytes, self._size_limit or response.telemetry_max_bytes),
            response.delta_temporality,
            None if names == ["*"] else tuple(names),
        )
        if subscription.wants_metrics:
            self.to(TelemetryState.PUSH_NEEDED)
            self.due_s = now_s + subscription.interval_s * self._rng.uniform(*FIRST_PUSH)
        else:
            self.to(TelemetryState.SUBSCRIPTION_NEEDED)
            self.due_s = now_s + subscription.interval_s

    def pushed(self, now_s: float) -> None:
        """Note a push that the broker has taken."""
        self.to(TelemetryState.PUSH_NEEDED)
        self._asks_at_once = True
        self.due_s = now_s + self._interval_s

    def refused(self, error: BrokerResponseError, now_s: float, *, size: int = 0) -> None:
        """Note the error of a response. `size`: that of the push which was refused."""
        if not isinstance(error, _AT_ONCE + _LATER):
            self.give_up(error)
            return
        if isinstance(error, UnsupportedCompressionTypeError) and self.subscription is not None:
            self._refused_codecs.add(self.subscription.codec)
        if isinstance(error, TelemetryTooLargeError) and size:
            self._size_limit = size // 2
        at_once = isinstance(error, _AT_ONCE) and self._asks_at_once
        self._asks_at_once = not at_once
        self.to(TelemetryState.SUBSCRIPTION_NEEDED)
        self.due_s = now_s if at_once else now_s + self._interval_s

    def unanswered(self, now_s: float) -> None:
        """Note a request without a response: ask for a subscription after an interval."""
        self.to(TelemetryState.SUBSCRIPTION_NEEDED)
        self.due_s = now_s + self._interval_s

    def give_up(self, error: BaseException) -> None:
        """End the telemetry because of an error that trying again does not mend."""
        self.error = error
        self.to(TelemetryState.TERMINATED)

    def may_push_last(self) -> bool:
        """Say whether a client that closes has a last push to send; if so, it is in that state."""
        if self.state not in (TelemetryState.PUSH_NEEDED, TelemetryState.PUSH_IN_PROGRESS):
            return False
        self.to(TelemetryState.TERMINATING_PUSH_NEEDED)
        return True

    def has_id(self) -> bool:
        """Whether a broker has given this client its id."""
        return self.instance_id != ZERO_UUID


def _first_of(accepted: Iterable[int], refused: set[CompressionType]) -> CompressionType:
    """Return the codec that the broker likes best, of those known here."""
    known = (CompressionType(number) for number in accepted if number in _KNOWN)
    return next((codec for codec in known if codec not in refused), CompressionType.NONE)


_KNOWN: Final = frozenset(int(codec) for codec in CompressionType)


__all__ = [
    "DEFAULT_INTERVAL_S",
    "MAY_FOLLOW",
    "TelemetryProgress",
    "TelemetryState",
    "WantedMetrics",
]
