"""Lets assignors of other clients work here: what is no AbstractPartitionAssignor, and nearly one.

aiokafka's and kafka-python's have methods of the same names. They return objects of their own, and
kafka-python 3 takes the members as a list. An object that fits none of these forms is refused, in
the constructor of the consumer. Does not wait.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, Final, TypeVar

from aiokafka_lite.checks.quoted import kind_of, quoted, said
from aiokafka_lite.consumer.assignors.assignor import (
    AbstractPartitionAssignor,
    AssignmentCluster,
    Assignments,
    Members,
    RebalanceProtocol,
)
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

_T = TypeVar("_T", ConsumerProtocolMemberMetadata, ConsumerProtocolMemberAssignment)

METHODS: Final = ("assign", "metadata", "on_assignment")


def as_assignor(entry: object) -> AbstractPartitionAssignor:
    """Return an assignor for what the user has listed: a class, or an instance.

    Raises: KafkaConfigurationError for what is none.
    """
    assignor = _made(entry)
    if isinstance(assignor, AbstractPartitionAssignor):
        return assignor
    missing = [name for name in METHODS if not callable(getattr(assignor, name, None))]
    if not isinstance(getattr(assignor, "name", None), str):
        missing.insert(0, "name")
    if missing:
        raise KafkaConfigurationError(
            f"partition_assignment_strategy has {quoted(entry)}, which is no assignor: it lacks "
            f"{', '.join(missing)}; give assignor classes, such as RangePartitionAssignor"
        )
    return DuckTypedAssignor(assignor, entry)


def _made(entry: object) -> object:
    if not isinstance(entry, type):
        return entry
    try:
        return entry()
    except Exception as error:
        is_ours = issubclass(entry, AbstractPartitionAssignor)
        if not is_ours and all(inspect.ismethod(getattr(entry, name, None)) for name in METHODS):
            return entry  # its methods are those of the class, as aiokafka calls them
        raise KafkaConfigurationError(
            f"partition_assignment_strategy has {quoted(entry)}, which cannot be made without "
            f"arguments ({said(error)}); give an instance instead"
        ) from error


class DuckTypedAssignor(AbstractPartitionAssignor):
    """An assignor of another client, or one that a user wrote without our base class."""

    name = ""  # is set by the constructor

    def __init__(self, assignor: Any, entry: object) -> None:
        """`entry`: what the user has listed, for errors.

        Raises: KafkaConfigurationError for methods that cannot be called as those of aiokafka or
        kafka-python, or a `metadata()` that is no subscription.
        """
        self._assignor = assignor
        self._entry = entry
        self.name = assignor.name
        self._takes_generation = _takes(assignor.on_assignment, 2)
        for name, count in (("assign", 2), ("metadata", 1)):
            if not _takes(getattr(assignor, name), count):
                raise self._refusal(f"{name}() does not take {count} argument(s)")
        if not (self._takes_generation or _takes(assignor.on_assignment, 1)):
            raise self._refusal("on_assignment() does not take an assignment")
        try:
            self.metadata(())
        except Exception as error:
            raise self._refusal(f"metadata() does not work: {said(error)}") from error
        self.supported_protocols = self._protocols()
        self._assignment = ConsumerProtocolMemberAssignment(0, [], b"")

    def _refusal(self, why: str) -> KafkaConfigurationError:
        return KafkaConfigurationError(
            f"partition_assignment_strategy has {quoted(self._entry)}, which is no assignor: {why};"
            " derive it from AbstractPartitionAssignor, or give it the methods of aiokafka's"
        )

    def _protocols(self) -> tuple[RebalanceProtocol, ...]:
        """Return the rebalance protocols; an assignor that names none is eager."""
        told = getattr(self._assignor, "supported_protocols", None)
        if told is None:
            return (RebalanceProtocol.EAGER,)
        try:
            listed = told() if callable(told) else told
            return tuple(RebalanceProtocol[getattr(each, "name", str(each))] for each in listed)
        except Exception as error:
            raise self._refusal(f"its supported_protocols are not known: {said(error)}") from error

    def metadata(self, topics: Collection[str]) -> ConsumerProtocolMemberMetadata:
        """As the assignor's own, in our form."""
        return _ours(
            ConsumerProtocolMemberMetadata,
            self._assignor.metadata(topics),
            lambda told: ConsumerProtocolMemberMetadata(
                0, list(_first(told, "subscription", "topics")), told.user_data
            ),
        )

    def assign(self, cluster: AssignmentCluster, members: Members) -> Assignments:
        """As the assignor's own, in our form."""
        given: Any = members
        if self._takes_generation:
            given = [
                SimpleNamespace(
                    member_id=member_id, group_instance_id=told.group_instance_id, metadata=told
                )
                for member_id, told in members.items()
            ]
        found: Mapping[str, object] = self._assignor.assign(cluster, given)
        return {member_id: _assignment(each) for member_id, each in found.items()}

    def on_assignment(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        """As the assignor's own; one that also takes the generation hears it by `on_generation`."""
        self._assignment = assignment
        if not self._takes_generation:
            self._assignor.on_assignment(assignment)

    def on_generation(self, generation_id: int) -> None:
        """Tell the assignor of the generation, if it wants to know."""
        if self._takes_generation:
            self._assignor.on_assignment(self._assignment, generation_id)
        elif callable(own := getattr(self._assignor, "on_generation", None)):
            own(generation_id)


def _assignment(told: object) -> ConsumerProtocolMemberAssignment:
    return _ours(
        ConsumerProtocolMemberAssignment,
        told,
        lambda each: ConsumerProtocolMemberAssignment(
            0, [(topic, list(numbers)) for topic, numbers in each.assignment], each.user_data
        ),
    )


def _ours(kind: type[_T], told: Any, by_fields: Callable[[Any], _T]) -> _T:
    """Return what an assignor told in our form: by its bytes, or else by its fields.

    Raises: TypeError, or ProtocolDecodeError, for what has neither.
    """
    if isinstance(told, kind):
        return told
    encode = getattr(told, "encode", None)
    data = encode() if callable(encode) and not isinstance(told, str) else told
    if isinstance(data, bytes | bytearray | memoryview):
        return kind.decode(data)
    try:
        return by_fields(told)
    except AttributeError as error:
        raise TypeError(f"{kind_of(told)} is no {kind.__name__}") from error


def _first(told: Any, *names: str) -> Iterable[str]:
    for name in names:
        found: Iterable[str] | None = getattr(told, name, None)
        if found is not None:
            return found
    raise AttributeError(names[0])


def _takes(function: Any, count: int) -> bool:
    """Say whether a function may be called with so many arguments, as far as that is known."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True  # of a native function
    return True


__all__ = ["as_assignor"]
