"""The pure twin of the record that consumers return: a dataclass.

It is also where the native twin takes its description as a dataclass from. It does not wait.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

if TYPE_CHECKING:
    # Their default (PEP 696) is for type checkers alone: a bare ConsumerRecord is one of bytes.
    from typing_extensions import TypeVar

    KT = TypeVar("KT", default=bytes)
    VT = TypeVar("VT", default=bytes)
else:
    from typing import TypeVar

    KT = TypeVar("KT")
    VT = TypeVar("VT")


@dataclass(eq=True)
class ConsumerRecord(Generic[KT, VT]):
    """A record as it was read.

    Mutable, without slots and not hashable, as aiokafka's: interceptors and processing steps may
    set attributes of their own on it.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    """Milliseconds since the epoch, -1 when there is none."""
    timestamp_type: int
    """One of `TimestampType`."""
    key: KT | None
    value: VT | None
    checksum: int | None
    """The CRC of a magic 0 or 1 record; None since magic 2."""
    serialized_key_size: int
    """Bytes, -1 without a key."""
    serialized_value_size: int
    """Bytes, -1 without a value."""
    headers: Sequence[tuple[str, bytes | None]]
    """In the producer's order; a name may occur more than once."""


ConsumerRecord.__module__ = "aiokafka_lite.model"  # where users, and their pickles, find it

__all__ = ["KT", "VT", "ConsumerRecord"]
