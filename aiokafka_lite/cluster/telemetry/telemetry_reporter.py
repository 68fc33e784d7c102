"""Asks a broker which metrics it wants of this client, and pushes them (KIP-714).

`TelemetryProgress` decides; the reporter sends and waits. It uses the connections that the client
has, and asks one node as long as it may. An error never leaves the reporter: metrics are not worth
the failure of a client. Source: ClientTelemetryReporter, NetworkClient.TelemetrySender.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.cluster.telemetry.telemetry_state import (
    TelemetryProgress,
    TelemetryState,
    WantedMetrics,
)
from aiokafka_lite.compression.compressor import compress
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import BrokerResponseError, KafkaError, NodeNotReadyError, for_code
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.observe.otlp_metrics import MetricPoint, encode_metrics
from aiokafka_lite.observe.pushed_metrics import PushedMetrics, Reading, SumLedger
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
)
from aiokafka_lite.protocol.messages.push_telemetry import PushTelemetryRequest
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.version import __version__

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)

LAST_PUSH_BOUND_S: Final = 0.5
"""How long a client that closes waits for the response to its last push."""
_SCOPE: Final = ("aiokafka_lite", __version__)


class TelemetryReporter:
    """The telemetry of one client, from its first request to its last push."""

    def __init__(
        self,
        client: ObservedClient,
        counters: Counters,
        network: NetworkClient,
        *,
        resource: Callable[[], Mapping[str, str]],
        clock: Clock,
        rng: random.Random,
        made_s: float,
    ) -> None:
        """`resource` returns the labels of all metrics. `made_s`: when the client was made, in
        seconds since 1970.
        """
        self.progress = TelemetryProgress(rng)
        self.changed = asyncio.Event()
        """Set once the client has its id, or will get none."""
        self._client = client
        self._counters = counters
        self._network = network
        self._resource = resource
        self._clock = clock
        self._ledger = SumLedger(made_s)
        self._metrics: PushedMetrics | None = None
        self._node_id: int | None = None

    async def run(self) -> None:
        """Ask and push until the telemetry has ended. Cancelled: `end` may follow."""
        progress = self.progress
        try:
            while not progress.has_ended:
                await self._clock.sleep(max(progress.due_s - self._clock.monotonic(), 0.0))
                await self._step()
        except Exception as error:
            logger.warning("%s: pushes no metrics any more", self._client.client_id, exc_info=error)
            progress.give_up(error)
        finally:
            if progress.has_ended:
                self._forget_metrics()
                self.changed.set()

    async def _step(self) -> None:
        progress = self.progress
        try:
            if progress.asks():
                await self._subscribe()
            else:
                await self._push()
        except KafkaError as error:
            logger.debug("%s: telemetry: %s", self._client.client_id, reason_of(error))
            self._node_id = None
            progress.unanswered(self._clock.monotonic())

    async def _subscribe(self) -> None:
        progress = self.progress
        progress.to(TelemetryState.SUBSCRIPTION_IN_PROGRESS)
        request = GetTelemetrySubscriptionsRequest(client_instance_id=progress.instance_id)
        response = await self._ask(request)
        if response.error_code:
            self._refused(for_code(response.error_code))
            return
        progress.subscribed(response, self._clock.monotonic())
        subscription = progress.subscription
        if subscription is not None and subscription.wants_metrics:
            self._hear_events()
        else:
            self._forget_metrics()
        self.changed.set()

    async def _push(self) -> None:
        progress, subscription = self.progress, self.progress.subscription
        assert subscription is not None
        progress.to(TelemetryState.PUSH_IN_PROGRESS)
        readings = self._read()
        now_s = self._clock.time()
        points, request = self._request(subscription, readings, now_s)
        try:
            response = await self._ask(request)
        except KafkaError:  # the broker may have taken it, and a sum must not count twice
            self._ledger.tell(readings, points, now_s)
            raise
        if response.error_code:
            self._refused(for_code(response.error_code), len(request.metrics))
        else:
            self._ledger.tell(readings, points, now_s)
            progress.pushed(self._clock.monotonic())

    async def end(self) -> None:
        """End the telemetry, with a last push if a subscription asks for metrics and the node is
        connected. Takes LAST_PUSH_BOUND_S at most. Cancelled: the last push has been sent.
        """
        try:
            await self._push_last()
        finally:
            self.progress.to(TelemetryState.TERMINATED)
            self._forget_metrics()
            self.changed.set()

    async def _push_last(self) -> None:
        subscription, node_id = self.progress.subscription, self._node_id
        if not self.progress.may_push_last() or subscription is None or node_id is None:
            return
        now_s = self._clock.time()
        _, request = self._request(subscription, self._read(), now_s, is_last=True)
        self.progress.to(TelemetryState.TERMINATING_PUSH_IN_PROGRESS)
        try:
            push = Exchange(request)
            if self._network.submit(node_id, push):
                async with deadline(self._clock, LAST_PUSH_BOUND_S):
                    await push
        except (KafkaError, TimeoutError) as error:
            logger.debug("%s: the last push: %r", self._client.client_id, error)

    # What is pushed…

    def _hear_events(self) -> None:
        if self._metrics is None:
            now_s = self._clock.monotonic()
            self._metrics = PushedMetrics(self._client, self._counters, now_s)
            self._counters.add(self._metrics)

    def _forget_metrics(self) -> None:
        if self._metrics is not None:
            self._counters.remove(self._metrics)
            self._metrics = None

    def _read(self) -> list[Reading]:
        metrics = self._metrics
        return [] if metrics is None else metrics.read(self._clock.monotonic())

    def _request(
        self,
        subscription: WantedMetrics,
        readings: Sequence[Reading],
        now_s: float,
        *,
        is_last: bool = False,
    ) -> tuple[list[MetricPoint], PushTelemetryRequest]:
        """Return the push, and the points in it: the first ones of those that fit."""
        points = self._ledger.points(readings, subscription.wants, is_delta=subscription.is_delta)
        wanted = len(points)
        while len(message := self._encode(subscription, points, now_s)) > subscription.max_bytes:
            del points[len(points) // 2 :]
        if len(points) < wanted:
            logger.debug(
                "%s: %d of %d metrics fit into a push of %d bytes",
                *(self._client.client_id, len(points), wanted, subscription.max_bytes),
            )
        return points, PushTelemetryRequest(
            client_instance_id=self.progress.instance_id,
            subscription_id=subscription.subscription_id,
            terminating=is_last,
            compression_type=int(subscription.codec),
            metrics=message,
        )

    def _encode(
        self, subscription: WantedMetrics, points: Sequence[MetricPoint], now_s: float
    ) -> bytes:
        if not points:
            return b""
        message = encode_metrics(
            points,
            resource=self._resource(),
            scope=_SCOPE,
            now_s=now_s,
            is_delta=subscription.is_delta,
        )
        return bytes(compress(subscription.codec, message))

    # Talking to a node…

    async def _ask(self, request: Request[R]) -> R:
        """Send a request to the node of the one before, or to another one if it may not be asked.

        Raises: KafkaError without a response.
        """
        network, node_id = self._network, self._node_id
        if node_id is None or network.ready_delay(node_id):
            node_id = network.least_loaded_node()
        if node_id is None:
            raise NodeNotReadyError("no node may be asked now")
        self._node_id = node_id
        return await network.request(node_id, request)

    def _refused(self, error_type: type[BrokerResponseError], size: int = 0) -> None:
        error = error_type("the broker refuses telemetry")
        self.progress.refused(error, self._clock.monotonic(), size=size)
        level = logging.WARNING if self.progress.has_ended else logging.DEBUG
        logger.log(level, "%s: telemetry was refused: %s", self._client.client_id, error)


__all__ = ["LAST_PUSH_BOUND_S", "TelemetryReporter"]
