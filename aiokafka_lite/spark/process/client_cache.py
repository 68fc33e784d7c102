"""Keeps the clients of a worker process between tasks; one task at a time uses a client.

The cache closes a client that was unused for a while. It also closes an unused client that loses a
connection. Otherwise the log would report brokers that no task asks. It lives in the event loop of
`worker`.
"""

import hashlib
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.spark.options.sealed_properties import client_arguments

if TYPE_CHECKING:
    from aiokafka_lite.cluster.kafka_client import KafkaClient

logger = logging.getLogger(__name__)

IDLE_S = 60.0


class Client(Protocol):
    """The common interface of consumers and producers."""

    @property
    def kafka_client(self) -> "KafkaClient | None": ...

    async def start(self) -> Any: ...

    async def stop(self) -> Any: ...


ClientT = TypeVar("ClientT", bound=Client)


@dataclass(eq=False, slots=True)
class _Idle:
    key: str
    client: Client
    timer: TimerHandle | None = None


class ClientCache:
    """Idle clients that wait for the next task with the same configuration."""

    def __init__(self, owner: TaskOwner, clock: Clock, idle_s: float = IDLE_S) -> None:
        self._owner = owner
        self._clock = clock
        self._idle_s = idle_s
        self._idle: list[_Idle] = []

    def __len__(self) -> int:
        """How many clients are idle."""
        return len(self._idle)

    @asynccontextmanager
    async def lend(
        self, make: Callable[..., ClientT], arguments: Mapping[str, object]
    ) -> AsyncIterator[ClientT]:
        """Lend a started client made by `make(**arguments)`: an idle one, or else a new one. Sealed
        security properties become options first.

        It is returned at the end of the block. If the block raised, the client is stopped.

        Raises: the errors of making and starting it. Cancelled: the client is stopped.
        """
        key = _digest(make, arguments)
        client: Any = self._take(key)
        if client is None:
            client = make(**client_arguments(arguments))
            await client.start()
            client.kafka_client.add_trouble_listener(lambda: self._note_trouble(client))
        try:
            yield client
        except BaseException:
            with anyio_shield():
                await _stop(client)
            raise
        self._keep(_Idle(key, client))

    def _take(self, key: str) -> Client | None:
        for number in reversed(range(len(self._idle))):
            if self._idle[number].key == key:
                found = self._idle.pop(number)
                if found.timer is not None:
                    found.timer.cancel()
                return found.client
        return None

    def _keep(self, idle: _Idle) -> None:
        self._idle.append(idle)
        when = self._clock.monotonic() + self._idle_s
        idle.timer = self._clock.call_at(when, lambda: self._expire(idle))

    def _note_trouble(self, client: Client) -> None:
        for idle in self._idle:
            if idle.client is client:
                assert idle.timer is not None
                idle.timer.cancel()
                assert client.kafka_client is not None
                # at once, before it asks the brokers about the lost connection
                client.kafka_client.owner.close_soon()
                self._expire(idle)
                return

    def _expire(self, idle: _Idle) -> None:
        self._idle.remove(idle)
        self._owner.spawn("client_cache.stop", _stop, idle.client)

    async def close(self) -> None:
        """Stop the idle clients. Cancelled: some continue."""
        while self._idle:
            idle = self._idle.pop()
            if idle.timer is not None:
                idle.timer.cancel()
            await _stop(idle.client)


async def _stop(client: Client) -> None:
    try:
        await client.stop()
    except Exception:
        logger.warning("%r could not be stopped cleanly", client, exc_info=True)


def _digest(make: Callable[..., Any], arguments: Mapping[str, object]) -> str:
    """Return a name for a configuration that does not reveal its secrets."""
    text = json.dumps([make.__qualname__, arguments], sort_keys=True, default=_distinct)
    return hashlib.sha256(text.encode()).hexdigest()


def _distinct(value: object) -> str:
    return str(getattr(value, "fingerprint", None) or repr(value))


__all__ = ["IDLE_S", "Client", "ClientCache", "ClientT"]
