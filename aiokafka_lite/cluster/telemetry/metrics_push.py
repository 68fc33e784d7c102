"""Owns when the telemetry of a client begins and ends.

It begins with the first connection to a broker that takes metrics. Before that it costs nothing: no
task, no request, no module. Brokers take metrics if they have a ClientTelemetry plugin.
"""

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask, OwnerState, TaskOwner
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaError,
    KafkaTimeoutError,
    UnsupportedVersionError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import ConsumerGroupMetadata

if TYPE_CHECKING:
    from aiokafka_lite.cluster.telemetry.telemetry_reporter import TelemetryReporter

_API_KEY: Final = 71  # GetTelemetrySubscriptions; the message is imported when it is needed
_MOST_MS: Final = 2**31 - 1
_RESOURCE: Final = ("client_rack", "group_id", "group_instance_id", "transactional_id")
"""The options that are labels of all metrics."""


class _GroupIdentity(Protocol):
    """What the labels need of a consumer's group."""

    @property
    def metadata(self) -> ConsumerGroupMetadata:
        """Who the consumer is in its group."""


class MetricsPush:
    """The telemetry of one client, if `enable_metrics_push` allows it."""

    def __init__(
        self,
        config: ClientConfig,
        network: NetworkClient,
        observer: Observer,
        *,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._config = config
        self._network = network
        self._counters = observer if isinstance(observer, Counters) else None
        self._clock = clock
        self._rng = rng
        self._made_s = clock.time()
        self._reporter: TelemetryReporter | None = None
        self._task: OwnedTask | None = None
        self._member: _GroupIdentity | None = None

    def member_of(self, group: "_GroupIdentity") -> None:
        """Label the metrics with the id of the group's member, once it has one."""
        self._member = group

    def look(self, owner: TaskOwner) -> None:
        """Begin if a connected broker takes metrics. Called after each connect. Does not wait."""
        if self._task is not None or not self._is_possible:
            return
        if owner.state is not OwnerState.RUNNING or owner.failure is not None:
            return
        counters = self._counters
        if counters is None or counters.describe is None:
            return
        from aiokafka_lite.cluster.telemetry.telemetry_reporter import (  # noqa: PLC0415
            TelemetryReporter,
        )

        self._reporter = TelemetryReporter(
            counters.describe(),
            counters,
            self._network,
            resource=self._resource,
            clock=self._clock,
            rng=self._rng,
            made_s=self._made_s,
        )
        self._task = owner.spawn("telemetry", self._reporter.run)

    @property
    def _is_possible(self) -> bool:
        return self._config.enable_metrics_push and self._network.has_api(_API_KEY)

    async def end(self) -> None:
        """Push the last metrics. Takes half a second at most. Cancelled: nothing is left to do."""
        task, self._task = self._task, None
        if task is not None and self._reporter is not None:
            task.cancel()
            await task.wait()
            await self._reporter.end()

    async def instance_id(self, timeout_ms: int | None) -> UUID:
        """Return the id that a broker gave to this client; wait for it at most `timeout_ms`, which
        is default_api_timeout_ms for None.

        Raises: ValueError for a wrong timeout; IllegalStateError with `enable_metrics_push=False`;
        UnsupportedVersionError if no connected broker takes metrics, or it refuses those of this
        client; KafkaTimeoutError; KafkaConnectionError if no broker can be reached.
        Cancelled: nothing stays behind.
        """
        if timeout_ms is None:
            timeout_ms = self._config.default_api_timeout_ms
        given, timeout_ms = timeout_ms, whole(timeout_ms)
        if not is_int(timeout_ms) or not 0 <= timeout_ms <= _MOST_MS:
            raise ValueError(
                f"timeout_ms={quoted(given)} is no int from 0 to {_MOST_MS}; name the "
                "milliseconds that the call may take, or None for default_api_timeout_ms"
            )
        if not self._config.enable_metrics_push:
            raise IllegalStateError("the client has no id: set enable_metrics_push=True")
        try:
            async with deadline(self._clock, timeout_ms / 1000):
                reporter = await self._begun()
                await reporter.changed.wait()
        except TimeoutError as late:
            if isinstance(late, KafkaError):
                raise
            raise KafkaTimeoutError(
                f"no broker has given this client an id within timeout_ms={timeout_ms}; "
                "check the connection to the brokers, or raise it"
            ) from None
        if not reporter.progress.has_id():
            error = reporter.progress.error
            because = "the client was closed" if error is None else reason_of(error)
            raise UnsupportedVersionError(f"no broker gives this client an id: {because}")
        return reporter.progress.instance_id

    async def _begun(self) -> "TelemetryReporter":
        """Return what talks to the brokers; connect to one that may take metrics."""
        if self._reporter is None:
            node_id = self._network.least_loaded_node()
            if node_id is not None:
                await self._network.connect(node_id)
        if self._reporter is None:
            raise UnsupportedVersionError(
                "no broker that this client is connected to takes metrics (KIP-714), so the client "
                "has no id; give the brokers a reporter that implements ClientTelemetry"
            )
        return self._reporter

    def _resource(self) -> Mapping[str, str]:
        """Return the labels of all metrics."""
        values = {name: getattr(self._config, name, None) for name in _RESOURCE}
        if self._member is not None:
            values["group_member_id"] = self._member.metadata.member_id
        return {name: value for name, value in values.items() if value}


__all__ = ["MetricsPush"]
