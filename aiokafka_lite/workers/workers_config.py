"""Holds the settings of one pool of workers, checked. Does not wait."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Literal, get_args

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.concurrency.coroutine_function import is_coroutine_function, is_plain_function
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import ConsumerRecord

Order = Literal["key", "partition", "unordered"]
KeyOf = Callable[[ConsumerRecord[Any, Any]], Hashable]
"""Returns the value whose records are handled one after the other, within their partition."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkersConfig:
    """The settings of `KeyedWorkers`, which documents them.

    Raises: KafkaConfigurationError naming every wrong setting at once.
    """

    concurrency: int
    order: Order | KeyOf
    max_records: int
    max_bytes: int
    commit_interval_ms: float
    drain_timeout_ms: float
    slow_handler_ms: float
    handler_timeout_ms: float
    retries: int | None
    """None: no limit."""
    retry_backoff_ms: float
    retry_backoff_max_ms: float
    not_retried: tuple[type[Exception], ...]
    has_dead_letters: bool
    max_poll_interval_ms: int
    """That of the consumer: the group waits so long for a member that drains."""

    def __post_init__(self) -> None:
        for name in (*_POSITIVE, "retries"):
            object.__setattr__(self, name, whole(getattr(self, name)))
        faults = list(self._faults())
        if faults:
            raise KafkaConfigurationError(f"these workers cannot work: {'; '.join(faults)}")

    def _faults(self) -> list[str]:
        faults = [*positive_faults(self, _POSITIVE), *attempt_faults(self)]
        if not callable(self.order) and self.order not in get_args(Order):
            faults.append(
                f"order={quoted(self.order)} is none of {', '.join(map(repr, get_args(Order)))}, "
                "and no function of a record"
            )
        if is_coroutine_function(self.order):
            faults.append("order is an `async def`, and nobody awaits it; give a plain function")
        retries: object = self.retries  # users may pass anything
        if retries is not None and (not is_int(retries) or retries < 0):
            faults.append(
                f"retries={quoted(self.retries)} is not an int from 0 on; None has no limit"
            )
        if self.has_dead_letters and self.retries is None:
            faults.append("dead_letters needs a number of retries, after which a record goes there")
        if faults:
            return faults
        if self.max_records < self.concurrency:
            faults.append(
                f"max_records={self.max_records} is less than concurrency={self.concurrency}, so "
                f"that handlers would wait for records; raise it"
            )
        if self.drain_timeout_ms >= self.max_poll_interval_ms:
            faults.append(
                f"drain_timeout_ms={self.drain_timeout_ms} is not below the consumer's "
                f"max_poll_interval_ms={self.max_poll_interval_ms}, after which the group goes on "
                f"without this member; lower it"
            )
        return faults

    @property
    def key_of(self) -> KeyOf | None:
        """The function that names the chain of a record; None if records have no order."""
        if self.order == "unordered":
            return None
        if self.order == "partition":
            return _no_key
        if self.order == "key":
            return _own_key
        return self.order


_POSITIVE = (
    "concurrency",
    "max_records",
    "max_bytes",
    "commit_interval_ms",
    "drain_timeout_ms",
    "slow_handler_ms",
    "handler_timeout_ms",
    "retry_backoff_ms",
    "retry_backoff_max_ms",
)


def positive_faults(config: object, names: Iterable[str]) -> list[str]:
    """Return a sentence for each of these settings that is not a number above 0."""
    return [
        f"{name}={quoted(value)} is not a number above 0; give one"
        for name in names
        if not _is_positive(value := getattr(config, name))
    ]


def attempt_faults(config: Any) -> Iterator[str]:
    """Yield a sentence for each of the settings of handlers with which these cannot be called."""
    concurrency: object = config.concurrency  # users may pass anything
    if isinstance(concurrency, float):
        yield f"concurrency={quoted(concurrency)} is not an int; give one"
    kinds: object = config.not_retried
    listed = kinds if isinstance(kinds, tuple) else (None,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in listed):
        yield f"not_retried={quoted(kinds)} is not a tuple of classes of exceptions; give one"


def check_handler(handle: object) -> None:
    """Raises: KafkaConfigurationError for what cannot be called, and for a plain function."""
    if not callable(handle):
        raise KafkaConfigurationError(
            f"these workers cannot work: the handler {quoted(handle)} cannot be called; give an "
            "`async def` function that takes a record"
        )
    if is_plain_function(handle):
        raise KafkaConfigurationError(
            f"these workers cannot work: the handler {quoted(handle)} is a plain function, which "
            "would keep the event loop from heartbeats; make it an `async def`, and call blocking "
            "code by `await asyncio.to_thread(...)`"
        )


def _is_positive(value: object) -> bool:
    return (is_int(value) or isinstance(value, float)) and value > 0


def _own_key(record: ConsumerRecord[Any, Any]) -> Hashable:
    key: Hashable = record.key
    return key


def _no_key(_: ConsumerRecord[Any, Any]) -> Hashable:
    return None


__all__ = [
    "KeyOf",
    "Order",
    "WorkersConfig",
    "attempt_faults",
    "check_handler",
    "positive_faults",
]
