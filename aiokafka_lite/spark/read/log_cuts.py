"""Finds where logs were cut by a new leader that lacked their end, as in an unclean election.

An offset alone does not tell: others may have written records there since. The leader epoch that
stands beside it does (2c-10, KIP-320). It blocks only while the planner asks brokers.
"""

from collections.abc import Mapping
from typing import Protocol

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import Offsets


class EpochQuestions(Protocol):
    """The question to the leaders; `Planner` implements it."""

    def epoch_ends(
        self, epochs: Mapping[TopicPartition, int]
    ) -> Mapping[TopicPartition, int | None]: ...


class LogCuts:
    """Compares offsets of a log at two times. Only a new leader can cut one, so it is asked once
    for each.
    """

    def __init__(self, questions: EpochQuestions) -> None:
        self._questions = questions
        self._known: dict[TopicPartition, tuple[tuple[int, int, int], int]] = {}
        """What was asked about a partition last, and up to where its log was still the same."""

    def between(self, before: Offsets, now: Offsets) -> dict[TopicPartition, int]:
        """Return where logs part from what they were, by partition, if before the offset.

        They are the logs of `now`; 0 stands for an unknown place. Raises: as `Planner.resolve`.
        """
        asked = {
            tp: (before[tp], epoch, newer)
            for tp, epoch in before.epochs.items()
            if (newer := now.epochs.get(tp, epoch)) != epoch
        }
        unknown = {
            tp: key[1]
            for tp, key in asked.items()
            if tp not in self._known or self._known[tp][0] != key
        }
        if unknown:
            ends = self._questions.epoch_ends(unknown)
            for tp in unknown:
                self._known[tp] = (asked[tp], ends.get(tp, before[tp]) or 0)
        return {tp: at for tp in asked if (at := self._known[tp][1]) < before[tp]}


__all__ = ["EpochQuestions", "LogCuts"]
