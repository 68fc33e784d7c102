"""Names what a pool of workers needs of its records, their queue and their outcomes."""

from typing import Any, Protocol, TypeVar

from aiokafka_lite.model import ConsumerRecord


class PoolItem(Protocol):
    """One record on its way through the workers. Its text names it in logs."""

    record: ConsumerRecord[Any, Any]

    def why(self, error: BaseException) -> str:
        """Return the error of the handler as logs show it, without parts of the record."""


ItemT = TypeVar("ItemT", bound=PoolItem)
ItemT_contra = TypeVar("ItemT_contra", bound=PoolItem, contravariant=True)


class PoolQueue(Protocol[ItemT]):
    """The records that wait for a worker."""

    @property
    def ready(self) -> int:
        """How many records could be handled now."""

    def take(self) -> ItemT | None:
        """Return the next record to handle; None if there is none."""

    def put_off(self, item: ItemT) -> object:
        """Note that the handler of an item has ended without an outcome."""


class PoolOutcomes(Protocol[ItemT_contra]):
    """What becomes of records whose handlers have ended."""

    def finished(self, item: ItemT_contra, result: object) -> object:
        """Take a record whose handler has returned `result`. Does not wait."""

    async def failed(self, item: ItemT_contra, error: BaseException) -> None:
        """Take a record whose handler has raised. Cancelled: the item is still taken."""


__all__ = ["ItemT", "ItemT_contra", "PoolItem", "PoolOutcomes", "PoolQueue"]
