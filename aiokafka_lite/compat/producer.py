"""The AIOKafkaProducer that programs get under the name `aiokafka`."""

import asyncio
from collections.abc import Callable
from typing import Any

from aiokafka_lite.compat.client import AIOKafkaClient, asserted, client_of
from aiokafka_lite.compat.defaults import signature_of, with_defaults
from aiokafka_lite.concurrency.outcome import give, give_error
from aiokafka_lite.concurrency.running_loop import running_loop
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.producer import producer as lite
from aiokafka_lite.serialization import K_contra, V_contra


class AIOKafkaProducer(lite.AIOKafkaProducer[K_contra, V_contra]):
    """As `aiokafka_lite.AIOKafkaProducer`, with aiokafka's defaults, results and errors.

    Raises: as that; ValueError for what aiokafka refuses.
    """

    __slots__ = ()

    def __init__(self, **options: Any) -> None:
        super().__init__(**with_defaults("AIOKafkaProducer", options))
        if not self._is_answered:
            # Of the instance: most producers get an answer, and their send() stays as it is.
            vars(self)["send"] = _without_result(self.send)

    __init__.__signature__ = signature_of("AIOKafkaProducer")  # type: ignore[attr-defined]

    def _build_engine(self) -> None:
        super()._build_engine()
        path = self._engine.append_path
        path.serializers.passes_errors = True
        path.finder.known_queue = _asserted(path.finder.known_queue)  # type: ignore[method-assign]

    @property
    def client(self) -> AIOKafkaClient:
        """The connections and the metadata of this producer."""
        return client_of(self)

    async def send_batch(self, batch: Any, topic: str, *, partition: int | None) -> Any:
        """As that of `aiokafka_lite.AIOKafkaProducer`. Of a batch without records, and with
        `acks=0`, the result is None.
        """
        if batch.record_count() == 0:
            batch.close()
            if self._engine.transactions is not None:
                self._engine.transactions.check_may_send()
            if partition is not None and partition not in await self.partitions_for(topic):
                raise AssertionError(f"Unrecognized partition: partition={partition}")
            nothing: asyncio.Future[None] = running_loop().create_future()
            give(nothing, None)
            return nothing
        ack = await super().send_batch(batch, topic, partition=partition)
        return ack if self._is_answered else _future_of_none(ack)

    async def begin_transaction(self) -> None:
        """As that of `aiokafka_lite.AIOKafkaProducer`. What is out of order is an AssertionError,
        too, as in the calls below. Cancelled: as that.
        """
        with asserted():
            await super().begin_transaction()

    async def commit_transaction(self) -> None:
        """As `begin_transaction`. Cancelled: the commit goes on."""
        with asserted():
            await super().commit_transaction()

    async def abort_transaction(self) -> None:
        """As `begin_transaction`. Cancelled: the abort goes on."""
        with asserted():
            await super().abort_transaction()

    async def send_offsets_to_transaction(self, offsets: Any, group_id: Any) -> None:
        """As that of `aiokafka_lite.AIOKafkaProducer`; ValueError without offsets. Cancelled: as
        that.
        """
        await super().send_offsets_to_transaction(offsets, group_id)
        if not offsets:
            raise ValueError("there are no offsets to send")


def _without_result(send: Callable[..., Any]) -> Callable[..., Any]:
    async def send_without_result(*args: Any, **kwargs: Any) -> "asyncio.Future[None]":
        return _future_of_none(await send(*args, **kwargs))

    return send_without_result


def _future_of_none(ack: Any) -> "asyncio.Future[None]":
    """Return a future that is done with the ack: with None, or with its error."""
    future: asyncio.Future[None] = running_loop().create_future()

    def done(_: object) -> None:
        error = None if future.done() else ack.exception()
        if error is None:
            give(future, None)
        else:
            give_error(future, error)

    ack.add_done_callback(done)
    return future


def _asserted(known_queue: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises AssertionError, as aiokafka, for a partition that a topic does
    not have. The other one waits for it.
    """

    def find(route: Any, partition: Any) -> Any:
        try:
            queue = known_queue(route, partition)
        except IllegalArgumentError as error:
            raise AssertionError(str(error)) from error
        if queue is None:
            raise AssertionError(
                f"Unrecognized partition: partition={partition} is none of {route.count}"
            )
        return queue

    return find


__all__ = ["AIOKafkaProducer"]
