"""Holds the settings of one pool of share workers, checked. Does not wait."""

from aiokafka_lite.checks.value_checks import whole
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.workers.workers_config import attempt_faults, positive_faults


@dataclass(frozen=True, kw_only=True, slots=True)
class ShareWorkersConfig:
    """The settings of `ShareWorkers`, which documents them.

    Raises: KafkaConfigurationError naming every wrong setting at once.
    """

    concurrency: int
    max_records: int
    commit_interval_ms: float
    drain_timeout_ms: float
    slow_handler_ms: float
    handler_timeout_ms: float
    not_retried: tuple[type[Exception], ...]
    retry_backoff_ms: float
    retry_backoff_max_ms: float

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            object.__setattr__(self, name, whole(getattr(self, name)))
        faults = [*positive_faults(self, _POSITIVE), *attempt_faults(self)]
        if not faults and self.max_records < self.concurrency:
            faults.append(
                f"max_records={self.max_records} is less than concurrency={self.concurrency}, so "
                f"that handlers would wait for records; raise it"
            )
        if faults:
            raise KafkaConfigurationError(f"these workers cannot work: {'; '.join(faults)}")


_POSITIVE = (
    "concurrency",
    "max_records",
    "commit_interval_ms",
    "drain_timeout_ms",
    "slow_handler_ms",
    "handler_timeout_ms",
    "retry_backoff_ms",
    "retry_backoff_max_ms",
)


__all__ = ["ShareWorkersConfig"]
