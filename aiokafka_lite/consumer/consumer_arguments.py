"""Owns the checks of what users pass to the consumer's methods; error texts are aiokafka's.

Plain functions, without state. Does not wait.
"""

import re
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, get_args

from aiokafka_lite.checks.offset_arguments import (
    as_topic_partition,
    checked_key,
    checked_topic_partition,
)
from aiokafka_lite.checks.quoted import kind_of, number, quoted
from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.consumer.consumer_config import ConsumerConfig, GroupMembershipOperation
from aiokafka_lite.errors import IllegalOperation
from aiokafka_lite.model import OffsetSpec, SubscriptionPattern, TopicPartition

AS_A_LIST = "give them as subscribe(['a', 'b'])"
_MOST_TIMESTAMP = 2**63 - 1
AS_ARGUMENTS = "give each topic as an argument of its own, such as AIOKafkaConsumer('a', 'b')"


def int_from(minimum: int, value: object) -> int | None:
    """Return an integer of at least `minimum` as an int; None for anything else."""
    found = whole(value)
    return found if is_int(found) and found >= minimum else None


def check_operation(operation: object) -> None:
    """Raise ValueError for what is no `GroupMembershipOperation`."""
    known = get_args(GroupMembershipOperation)
    if operation not in known:
        raise ValueError(
            f"group_membership_operation must be one of {', '.join(map(repr, known))}, "
            f"not {quoted(operation)}"
        )


def checked_partitions(
    partitions: Iterable[object], text: str = "partitions must be TopicPartition instances"
) -> list[TopicPartition]:
    """Return the partitions as a list.

    Raises: TypeError, beginning with `text`, for anything but TopicPartitions; for those that
    cannot exist as `checked_topic_partition`.
    """
    found: list[TopicPartition] = []
    for partition in partitions:
        tp = as_topic_partition(partition)
        if tp is None:
            raise TypeError(f"{text}, not {kind_of(partition)}")
        found.append(checked_topic_partition(tp))
    return found


def checked_topics(topics: object, how: str = AS_A_LIST) -> list[str]:
    """Return the names as a list; `how` says how to give them.

    Raises: TypeError for a single str, or anything but str in it; InvalidTopicError for a name that
    no topic can have.
    """
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise TypeError(f"Topics should be list of strings, not {quoted(topics)}: {how}")
    names: list[str] = list(topics)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"Topics should be list of strings, and {quoted(name)} is none: {how}")
        check_topic_name(name)
    return names


def checked_pattern(pattern: object) -> re.Pattern[str]:
    """Return the compiled pattern; one that is compiled already keeps its flags.

    Raises: TypeError for anything but a str or a compiled pattern of str; ValueError for a str that
    is not a regular expression.
    """
    text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
    if not isinstance(text, str):
        raise TypeError(f"pattern must be a str, not {type(text).__name__}")
    if isinstance(pattern, re.Pattern):
        return pattern
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{quoted(text)} is no regular expression: {error}") from error


def check_server_pattern(pattern: SubscriptionPattern, config: ConsumerConfig) -> None:
    """Check that brokers may match the pattern.

    Raises: TypeError for a pattern that is no text; IllegalOperation without a group, or in one
    whose members assign.
    """
    regex: object = pattern.pattern
    if isinstance(regex, re.Pattern):
        raise TypeError(
            "the broker matches with RE2, which does not know the flags of a compiled pattern; give"
            " its text, with flags inside, such as (?i), or the pattern itself, which the client"
            " matches"
        )
    if not (isinstance(regex, str) and regex):
        raise TypeError(
            f"{quoted(pattern)} has no regular expression; give a str of at least one character"
        )
    if config.group_id is None or config.group_protocol == "classic":
        raise IllegalOperation(
            f"{quoted(pattern)} is matched by the broker: that needs group_id and "
            f"group_protocol='consumer'; give the pattern as a str, which the client matches"
        )


def checked_timestamps(timestamps: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Return the timestamps (ms since 1970) by partition.

    Raises: TypeError for what is no dict, no partition or no number; ValueError for a negative one.
    """
    _check_mapping("timestamps", timestamps, "milliseconds since 1970")
    checked: dict[TopicPartition, int] = {}
    for tp, given in timestamps.items():
        fault: type[Exception] | None = None
        try:
            timestamp = int(given)
        except (TypeError, ValueError, OverflowError) as error:
            fault = type(error)  # whose text quotes the value, so it is no context of ours
        if fault is not None:
            raise fault(
                f"the target time for partition {quoted(tp)} is {number(given)}; give milliseconds "
                "since 1970 as an int"
            )
        checked[checked_key(tp)] = timestamp
        if timestamp < 0:
            raise ValueError(
                f"The target time for partition {tp} is {timestamp}. "
                f"The target time cannot be negative."
            )
    return checked


def checked_specs(
    offsets: Mapping[TopicPartition, OffsetSpec | int],
) -> dict[TopicPartition, int]:
    """Return what to ask ListOffsets for by partition: an OffsetSpec, or milliseconds since 1970.

    Raises: TypeError for what is no dict, or no partition in it; ValueError for what is neither
    of the two.
    """
    _check_mapping("offsets", offsets, "OffsetSpec or milliseconds since 1970")
    checked = {checked_key(tp): whole(spec) for tp, spec in offsets.items()}
    for tp, spec in checked.items():
        if not is_int(spec) or not min(OffsetSpec) <= spec <= _MOST_TIMESTAMP:
            raise ValueError(
                f"{tp.topic}-{tp.partition}: {quoted(spec)} is no OffsetSpec and no "
                "time; give a member "
                f"of OffsetSpec, or milliseconds since 1970 as an int from 0 to {_MOST_TIMESTAMP}"
            )
    return checked


def _check_mapping(name: str, given: object, values: str) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(
            f"{name}={quoted(given)} is of type {type(given).__name__}; give a dict of "
            f"TopicPartition to {values}"
        )


def checked_time(timestamp_ms: object) -> int:
    """Return milliseconds since 1970. Raises: ValueError for what no request can carry."""
    time = whole(timestamp_ms)
    if not is_int(time) or not 0 <= time <= _MOST_TIMESTAMP:
        raise ValueError(
            f"timestamp_ms={quoted(timestamp_ms)} is no time; give milliseconds since 1970 as an "
            f"int from 0 to {_MOST_TIMESTAMP}"
        )
    return time


def checked_timeout_s(timeout_ms: Any) -> float:
    """Return how long a poll may wait, in seconds.

    Raises: TypeError for what is no number; ValueError for a negative one, and for NaN.
    """
    if timeout_ms.__class__ is int and timeout_ms >= 0:  # as most are
        return timeout_ms / 1000
    given = whole(timeout_ms)
    if not isinstance(given, int | float):
        with suppress(TypeError, ValueError):  # whose text quotes the value
            given = float(given)
    if not isinstance(given, int | float):
        raise TypeError(f"timeout_ms={quoted(timeout_ms)} is no number; give milliseconds")
    if not given >= 0:
        raise ValueError(f"timeout_ms={quoted(given)} is negative; use 0 not to wait")
    return float(given / 1000)


def warn_about_options_without_effect(loop: object, api_version: object) -> None:
    """Warn, in the name of the constructor's caller, for each of these options that is given."""
    remedies = {
        "loop": (loop, "the running event loop is used"),
        "api_version": (api_version, "versions are negotiated with each broker"),
    }
    for name, (value, instead) in remedies.items():
        if value is not None:
            warnings.warn(
                f"{name} has no effect: {instead}; leave it out", DeprecationWarning, stacklevel=3
            )


__all__ = [
    "AS_ARGUMENTS",
    "check_operation",
    "check_server_pattern",
    "checked_partitions",
    "checked_pattern",
    "checked_specs",
    "checked_time",
    "checked_timeout_s",
    "checked_timestamps",
    "checked_topics",
    "int_from",
    "warn_about_options_without_effect",
]
