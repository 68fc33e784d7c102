"""Makes a consumer's assignors out of its option `partition_assignment_strategy`. Does not wait.

Each consumer gets its own: an assignor may remember what its consumer had.
"""

from collections.abc import Sequence

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor, RebalanceProtocol
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.duck_typed import as_assignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.errors import KafkaConfigurationError

DEFAULT_STRATEGY = (
    RangePartitionAssignor,
    CooperativeStickyAssignor,
    RoundRobinPartitionAssignor,
)
"""Eager, on "range". Members of Java, librdkafka and kafka-python have that, too, and those of
aiokafka have "roundrobin" alone. Restarts with the cooperative one alone make the group so.
"""

_BUILT_IN = (*DEFAULT_STRATEGY, StickyPartitionAssignor)


def make_assignors(strategy: object = None) -> tuple[AbstractPartitionAssignor, ...]:
    """Return new assignors, the preferred one first. None stands for `DEFAULT_STRATEGY`.

    `strategy` lists classes, which are called without arguments, and instances, which are used as
    they are. Assignors in the forms of aiokafka and kafka-python also count (`duck_typed`).

    Raises: KafkaConfigurationError if `strategy` is not a list or is empty, if an entry is not an
    assignor, if two have the same name, or if they have no rebalance protocol in common.
    """
    if strategy is None:
        strategy = DEFAULT_STRATEGY
    if isinstance(strategy, str | bytes | type) or not isinstance(strategy, Sequence):
        raise KafkaConfigurationError(
            f"partition_assignment_strategy={quoted(strategy)} is no list; give a list or tuple of "
            "assignor classes"
        )
    assignors = tuple(as_assignor(entry) for entry in strategy)
    if not assignors:
        raise KafkaConfigurationError(
            "partition_assignment_strategy is empty; leave it out, or name at least one assignor"
        )
    _check_together(assignors)
    return assignors


def is_built_in(assignor: AbstractPartitionAssignor) -> bool:
    """Return whether all its code is of this package: it computes on values, and changes none.

    One derived from ours may do anything.
    """
    return type(assignor) in _BUILT_IN


def _check_together(assignors: tuple[AbstractPartitionAssignor, ...]) -> None:
    names = [assignor.name for assignor in assignors]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise KafkaConfigurationError(
            f"partition_assignment_strategy has several assignors named {quoted(twice[0])}; "
            "members agree on an assignor by its name, so keep one or rename it"
        )
    supported = [one.supported_protocols for one in assignors]
    if not set(RebalanceProtocol).intersection(*supported):
        each = ", ".join(
            f"{name} ({'/'.join(protocol.name for protocol in protocols)})"
            for name, protocols in zip(names, supported, strict=True)
        )
        raise KafkaConfigurationError(
            f"partition_assignment_strategy has no rebalance protocol in common: {each}; leave out "
            "what does not fit the others"
        )


__all__ = ["is_built_in", "make_assignors"]
