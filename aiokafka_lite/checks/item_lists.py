"""Checks the lists and dicts that users pass to calls about several things. Does not wait."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from aiokafka_lite.checks.offset_arguments import checked_topic_partition
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import whole
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.model import TopicPartition

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def listed(name: str, values: Iterable[T], wanted: str, *kinds: type) -> list[T]:
    """Return the values of the argument `name` as a list, whatever they are.

    Raises: IllegalArgumentError for a str, for one value of these kinds, and for what is no list.
    """
    given: Any = values
    if isinstance(given, (str, bytes, *kinds)) or not isinstance(given, Iterable):
        raise IllegalArgumentError(f"{name}: {quoted(given)} is no list; give a list of {wanted}")
    return list(given)


def list_of(name: str, values: Iterable[T], *kinds: type) -> list[T]:
    """Return the values of the argument `name`, each of one of these kinds, as a list.

    Raises: IllegalArgumentError for one value in place of a list, such as a str, which would be
    taken for the list of its letters; for what is no list; for a value of another kind.
    """
    wanted = " or ".join(kind.__name__ for kind in kinds)
    found = listed(name, values, wanted, *kinds)
    if int in kinds:
        found = list(map(whole, found))
    for each in found:
        if not _is_one_of(each, kinds):
            raise IllegalArgumentError(
                f"{name} has {quoted(each)}, which is no {wanted}; give a list of {wanted}"
            )
    return found


def partitions_of(name: str, values: Iterable[TopicPartition]) -> list[TopicPartition]:
    """Return the partitions of the argument `name`; a tuple (topic, partition) is one, too.

    Raises: IllegalArgumentError as `list_of`; as `checked_topic_partition`.
    """
    found = listed(name, values, "TopicPartition", TopicPartition)
    return [partition_of(name, each) for each in found]


def partition_of(name: str, value: object) -> TopicPartition:
    """Return a partition, given as TopicPartition or as tuple (topic, partition).

    Raises: IllegalArgumentError for anything else; as `checked_topic_partition`.
    """
    if not isinstance(value, tuple) or len(value) != 2:
        raise IllegalArgumentError(
            f"{name} has {quoted(value)}, which is no TopicPartition; give"
            " TopicPartition(topic, partition)"
        )
    return checked_topic_partition(TopicPartition(*value))


def dict_of(name: str, values: Mapping[K, V], form: str, *kinds: type) -> dict[K, V]:
    """Return the argument `name`, of the given form, as a dict of its own; without `kinds`, its
    values may be anything.

    Raises: IllegalArgumentError for what is no dict, and for a value of another kind.
    """
    given: Any = values
    if not isinstance(given, Mapping):
        raise IllegalArgumentError(f"{name}: {quoted(given)} is no dict; give {form}")
    if int in kinds:
        given = {key: whole(each) for key, each in given.items()}
    for key, each in given.items() if kinds else ():
        if not _is_one_of(each, kinds):
            raise IllegalArgumentError(
                f"{name}: {quoted(each)} of {quoted(key)} is no value of it; give {form}"
            )
    return dict(given)


def one_of(name: str, value: T, kind: type[T]) -> T:
    """Return the argument `name`. Raises: IllegalArgumentError if it is not of this kind."""
    if not isinstance(value, kind):
        raise IllegalArgumentError(f"{name}: {quoted(value)} is no {kind.__name__}; give one")
    return value


def _is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, kinds)


__all__ = ["dict_of", "list_of", "listed", "one_of", "partition_of", "partitions_of"]
