"""Sends the requests of an admin call where they must go, until each item has an outcome.

The call is split by node and by number of items. The parts are asked side by side, and each goes
on by itself. What a node leaves open is located and asked again after a backoff, until the call's
time is over. `pending_items` decides what is over; only this file and `request_routes` wait.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Generic, TypeAlias, TypeVar

from aiokafka_lite.admin.calls.outcomes import Outcomes, raise_broker_error
from aiokafka_lite.admin.calls.outer_call import OUTER_CALL
from aiokafka_lite.admin.calls.pending_items import SETTLING_S, PendingItems
from aiokafka_lite.admin.calls.request_routes import Located, RequestRoutes, Route
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.side_by_side import side_by_side
from aiokafka_lite.errors import (
    KafkaError,
    NodeNotReadyError,
    RequestTimedOutError,
)
from aiokafka_lite.schema.message import Request, Response

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
R = TypeVar("R", bound=Response)

MOST_ITEMS: Final = 1_000
"""How many items one request names, unless a call says otherwise."""
SIDE_BY_SIDE: Final = 8
"""How many requests of one call are without a response at a time. Nodes share them evenly."""


class AskedNode:
    """One node, as a part of an admin call asks it."""

    def __init__(
        self, client: KafkaClient, node_id: int | None, ends_s: float, *, is_repeatable: bool
    ) -> None:
        self.node_id = node_id
        """None: any node, unless its version was asked for."""
        self.asked_id = node_id
        """The node whose response is awaited."""
        self.may_have_acted = False
        """Whether a request that must not be repeated has left, and no response has come."""
        self._client = client
        self._ends_s = ends_s
        self._is_repeatable = is_repeatable

    @property
    def left_ms(self) -> int:
        """Milliseconds that are left of the call: the `timeout_ms` of a request."""
        return max(1, round((self._ends_s - self._client.clock.monotonic()) * 1000))

    async def version_of(self, request_type: type[Request[Any]]) -> int | None:
        """Return the version that requests of a type have with this node; None if it lacks the API.
        If any node will do, it becomes the one that is asked. Raises: as `NetworkClient.connect`.
        """
        if self.node_id is None:
            self.node_id = self._client.network.least_loaded_node()
            if self.node_id is None:
                raise NodeNotReadyError("no node of the cluster may be connected to now")
        await self._client.network.connect(self.node_id, timeout_s=self.left_ms / 1000)
        return self._client.network.max_version(self.node_id, request_type)

    def half_time(self) -> deadline:
        """Return a bound for what is only nice to know: half of what is left of the call."""
        return deadline(self._client.clock, self.left_ms / 2000)

    def _patience_s(self) -> float:
        """How long to wait for a response. If any node will do, the next one has as long."""
        wait_ms = min(self.left_ms, self._client.config.request_timeout_ms)
        is_free = self._is_repeatable and self.node_id is None
        return max(wait_ms / 2, min(wait_ms, 1000)) / 1000 if is_free else wait_ms / 1000

    async def request(self, request: Request[R], *, max_version: int | None = None) -> R:
        """Send a request and return its response. Raises: as `NetworkClient.request`."""
        network = self._client.network
        timeout_s = self._patience_s()
        node_id = network.least_loaded_node() if self.node_id is None else self.node_id
        self.asked_id = node_id
        if node_id is None and self._is_repeatable:
            return await network.request_any(request, timeout_s=timeout_s, max_version=max_version)
        if node_id is None:
            raise NodeNotReadyError("no node of the cluster may be connected to now")
        if not self._is_repeatable:
            await network.connect(node_id, timeout_s=timeout_s)
            self.may_have_acted = True
        response = await network.request(
            node_id, request, timeout_s=timeout_s, max_version=max_version
        )
        self.may_have_acted = False
        return response


Ask: TypeAlias = Callable[[AskedNode, list[K]], Awaitable[Mapping[K, V | KafkaError]]]
"""Asks a node about items, and returns each item's result or error."""


class AdminRequests:
    """Carries out the calls of one admin client."""

    def __init__(self, client: KafkaClient) -> None:
        self.client = client
        self.routes = RequestRoutes(client)
        """Where a request may go."""

    async def for_each(
        self,
        what: str,
        keys: Iterable[K],
        route: Route[K],
        ask: Ask[K, V],
        *,
        timeout_s: float,
        most_items: int = MOST_ITEMS,
        is_repeatable: bool = True,
        settling_s: float = SETTLING_S,
        final_errors: tuple[type[KafkaError], ...] = (),
        passing_errors: tuple[type[KafkaError], ...] = (),
    ) -> Outcomes[K, V]:
        """Return the outcome of each item: what `ask` returns for it, or its error.

        An item with a retriable error is asked for again after a backoff. With `is_repeatable`
        False it is not, once a node may have carried out a request with it. That a topic is
        unknown counts as retriable for `settling_s`; 0 for the controller, which knows them all.
        An item with one of `final_errors` is not asked for again, although the error is retriable;
        one with one of `passing_errors` is, although it is not.
        The items of a node do not wait for those of another one. At the end of `timeout_s`, an item
        without an outcome gets a KafkaTimeoutError that names `what`, and the node that has not
        answered.

        Raises: the error of the first item, if no node said anything about any of the items.
        Cancelled: the nodes may carry out the requests that have left.
        """
        clock = self.client.clock
        began_s = clock.monotonic()
        items: PendingItems[K, V] = PendingItems(
            what, keys, began_s, settling_s, final_errors, OUTER_CALL.get(), passing_errors
        )
        call = _Call(self.client, items, route, ask, began_s + timeout_s, most_items, is_repeatable)
        wait = self.client.waits.of(
            f"{items.name} to have a result",
            "check the brokers and the connection to them",
            lambda: items.present(call.unanswered),
        )
        try:
            with wait:
                async with deadline(clock, timeout_s):
                    await call.run()
        except TimeoutError as error:
            if isinstance(error, KafkaError):
                raise
            items.time_out(timeout_s, call.unanswered)
        return items.outcomes()

    async def one(
        self,
        what: str,
        key: K,
        route: Route[K],
        ask: Callable[[AskedNode], Awaitable[V]],
        *,
        timeout_s: float,
        is_repeatable: bool = True,
        settling_s: float = SETTLING_S,
        final_errors: tuple[type[KafkaError], ...] = (),
        passing_errors: tuple[type[KafkaError], ...] = (),
    ) -> V:
        """Return what `ask` returns for one item, or for the cluster; `for_each` has the rest.

        `ask` raises a KafkaError for an error in the response.

        Raises: the error of the item.
        """

        async def ask_for_one(node: AskedNode, keys: list[K]) -> dict[K, V | KafkaError]:
            return {keys[0]: await ask(node)}

        outcomes = await self.for_each(
            what,
            [key],
            route,
            ask_for_one,
            timeout_s=timeout_s,
            is_repeatable=is_repeatable,
            settling_s=settling_s,
            final_errors=final_errors,
            passing_errors=passing_errors,
        )
        outcomes.raise_first()
        return outcomes.succeeded[key]

    async def change(
        self,
        what: str,
        kind: str,
        number: int,
        request: Callable[[AskedNode], Request[Any]],
        *,
        timeout_s: float,
        is_repeatable: bool = True,
    ) -> None:
        """Send any node a request whose response has nothing but a code and its message.

        The error names the `kind` and the `number`. Raises: the error of the response; as `one`.
        """

        async def ask(node: AskedNode) -> None:
            answer = await node.request(request(node))
            raise_broker_error(answer.error_code, answer.error_message, f"{kind} {number}")

        await self.one(
            what,
            number,
            self.routes.any_node,
            ask,
            timeout_s=timeout_s,
            is_repeatable=is_repeatable,
        )


class _Call(Generic[K, V]):
    """One call. Its parts are located, asked for and asked for again each by itself."""

    def __init__(
        self,
        client: KafkaClient,
        items: PendingItems[K, V],
        route: Route[K],
        ask: Ask[K, V],
        ends_s: float,
        most_items: int,
        is_repeatable: bool,
    ) -> None:
        self._client = client
        self._items = items
        self._route = route
        self._ask = ask
        self._ends_s = ends_s
        self._most_items = most_items
        self._is_repeatable = is_repeatable
        self._places = asyncio.Semaphore(SIDE_BY_SIDE)
        self._places_of_node: dict[int | None, asyncio.Semaphore] = {}
        self._most_of_node = SIDE_BY_SIDE
        self._waiting: dict[AskedNode, list[K]] = {}

    @property
    def unanswered(self) -> dict[K, int]:
        """The nodes that have been asked for items and have not answered."""
        return {
            key: node.asked_id
            for node, keys in self._waiting.copy().items()
            if node.asked_id is not None
            for key in keys
        }

    async def run(self) -> None:
        """Return when each item has an outcome."""
        await self._follow(self._items.pending, 0)

    async def _follow(self, keys: list[K], attempts: int) -> None:
        """Return when each of the items has an outcome."""
        while keys:
            if attempts:
                await self._client.clock.sleep(self._client.retry_backoff.delay(attempts - 1))
            if not self._client.is_running:
                self._items.note_closed(keys, self._now_s())
                return
            located = await self._located(keys, attempts)
            attempts += 1
            parts = list(_parts(located, self._most_items))
            if len(parts) > 1 or (parts and located.failures):
                apart = {key for _, some in parts for key in some}
                rest = self._items.open(key for key in keys if key not in apart)
                calls = [partial(self._ask_and_follow, *part, attempts) for part in parts]
                await side_by_side([*calls, partial(self._follow, rest, attempts)])
                return
            for part in parts:
                await self._ask_node(*part)
            keys = self._items.open(keys)

    async def _located(self, keys: list[K], attempts: int) -> Located[K]:
        try:
            located = await self._route(keys, attempts)
        except KafkaError as error:
            self._items.note_failure(keys, error, self._now_s())
            return Located({}, dict.fromkeys(keys, error))
        if located.failures:
            self._items.note_answers(located.failures, located.failures, self._now_s())
        if not self._places_of_node and located.nodes:
            # A node that does not answer leaves room for the parts of the others.
            self._most_of_node = max(1, SIDE_BY_SIDE // len(located.nodes))
        return located

    async def _ask_and_follow(self, node_id: int | None, keys: list[K], attempts: int) -> None:
        await self._ask_node(node_id, keys)
        await self._follow(self._items.open(keys), attempts)

    async def _ask_node(self, node_id: int | None, keys: list[K]) -> None:
        node = AskedNode(self._client, node_id, self._ends_s, is_repeatable=self._is_repeatable)
        if node_id not in self._places_of_node:
            most = asyncio.Semaphore(self._most_of_node)
            self._places_of_node[node_id] = most
        self._waiting[node] = keys  # stays when the call's time is over
        async with self._places_of_node[node_id], self._places:
            try:
                answers = await self._ask(node, keys)
            except KafkaError as error:
                is_late = not self._is_repeatable and isinstance(error, RequestTimedOutError)
                is_final = node.may_have_acted or is_late
                self._items.note_failure(keys, error, self._now_s(), is_final=is_final)
            else:
                self._items.note_answers(keys, answers, self._now_s())
        del self._waiting[node]

    def _now_s(self) -> float:
        return self._client.clock.monotonic()


def _parts(located: Located[K], most_items: int) -> Iterator[tuple[int | None, list[K]]]:
    for node_id, keys in located.nodes.items():
        for start in range(0, len(keys), most_items):
            yield node_id, keys[start : start + most_items]


__all__ = ["MOST_ITEMS", "SIDE_BY_SIDE", "AdminRequests", "Ask", "AskedNode"]
