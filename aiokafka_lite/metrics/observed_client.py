"""Owns what an observer learns of a client when the client starts. Does not wait."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from aiokafka_lite.light_dataclass import dataclass

if TYPE_CHECKING:
    from aiokafka_lite.metrics.statistics import ConsumerStatistics, ProducerStatistics

ClientKind = Literal["producer", "consumer", "admin"]


@dataclass(frozen=True, slots=True)
class ObservedClient:
    """A client that starts."""

    kind: ClientKind
    client_id: str
    group_id: str | None
    """The group of a consumer; None without one."""
    statistics: "Callable[[], ProducerStatistics | ConsumerStatistics | None]"
    """Returns what the client holds at that moment; None for an admin client, and once the client
    is gone. It does not keep the client alive. In another thread it may raise a RuntimeError: call
    it again then.
    """


__all__ = ["ClientKind", "ObservedClient"]
