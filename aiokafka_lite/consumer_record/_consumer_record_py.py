"""The pure twin of the record that consumers return: a dataclass.

The native twin takes its description as a dataclass (fields, pattern matching) from this class.
Does not wait.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Generic

from aiokafka_lite.checks.quoted import record_text

if TYPE_CHECKING:
    # Only type checkers use the defaults (PEP 696): a bare ConsumerRecord has bytes as key and
    # value.
    from typing_extensions import TypeVar

    KT = TypeVar("KT", default=bytes)
    VT = TypeVar("VT", default=bytes)
else:
    from typing import TypeVar

    KT = TypeVar("KT")
    VT = TypeVar("VT")


# Its methods are written out: `dataclass` would compile them at each import.
@dataclass(init=False, repr=False, eq=False)
class ConsumerRecord(Generic[KT, VT]):
    """A record as the consumer returns it.

    The class is mutable, has no slots and is not hashable, like aiokafka's. Interceptors and
    processing steps may set attributes of their own on a record.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    """Milliseconds since the epoch; -1 for a record without a timestamp."""
    timestamp_type: int
    """One of `TimestampType`."""
    key: KT | None
    value: VT | None
    checksum: int | None
    """The CRC of a magic 0 or 1 record; None for magic 2."""
    serialized_key_size: int
    """Bytes; -1 without a key."""
    serialized_value_size: int
    """Bytes; -1 without a value."""
    headers: Sequence[tuple[str, bytes | None]]
    """In the producer's order. A name may occur more than once."""

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        timestamp: int,
        timestamp_type: int,
        key: KT | None,
        value: VT | None,
        checksum: int | None,
        serialized_key_size: int,
        serialized_value_size: int,
        headers: Sequence[tuple[str, bytes | None]],
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.timestamp_type = timestamp_type
        self.key = key
        self.value = value
        self.checksum = checksum
        self.serialized_key_size = serialized_key_size
        self.serialized_value_size = serialized_value_size
        self.headers = headers

    @recursive_repr()
    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={record_text(getattr(self, name))}" for name in _NAMES)
        return f"{type(self).__qualname__}({shown})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _fields(self) == _fields(other)

    __hash__ = None  # type: ignore[assignment]  # the form in which Python marks a mutable value

    if TYPE_CHECKING:

        @property
        def delivery_count(self) -> int:
            """How often a share group has delivered the record; 0 outside of share groups.

            It is no field: records that differ in it alone are equal.
            """

        @delivery_count.setter
        def delivery_count(self, count: int) -> None: ...

    else:
        delivery_count = 0


_NAMES = ConsumerRecord.__match_args__
_fields = attrgetter(*_NAMES)

# the module in which users and pickles look for it
ConsumerRecord.__module__ = "aiokafka_lite.model"

__all__ = ["KT", "VT", "ConsumerRecord"]
