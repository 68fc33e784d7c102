"""Decides which open transactions hang: the coordinators know nothing of them. Does not wait.

A transaction hangs if its partition has it open, and its producer's transactional id does not list
that partition, or no coordinator knows the producer. Until somebody aborts it, consumers with
read_committed cannot pass it. Source: KIP-664, TransactionsCommand.FindHangingTransactionsCommand.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from aiokafka_lite.admin.transactions.transaction_answers import (
    HangingTransaction,
    ProducerState,
    TransactionDescription,
    TransactionListing,
)
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaError, TransactionalIdNotFoundError
from aiokafka_lite.model import TopicPartition

MAX_TRANSACTION_TIMEOUT_MS: Final = 900_000
"""Java's default of transaction.max.timeout.ms: no transaction of a living producer is older."""


class OpenTransaction(NamedTuple):
    """A transaction that a partition has open."""

    topic_partition: TopicPartition
    producer: ProducerState


def old_transactions(
    producers: Mapping[TopicPartition, Sequence[ProducerState]], before_ms: int
) -> list[OpenTransaction]:
    """Return the open transactions to which nothing was written since `before_ms`."""
    return [
        OpenTransaction(topic_partition, producer)
        for topic_partition, states in producers.items()
        for producer in states
        if producer.current_transaction_start_offset is not None
        and producer.last_timestamp < before_ms
    ]


def hanging(
    found: Iterable[OpenTransaction],
    listings: Iterable[TransactionListing],
    descriptions: Mapping[str, TransactionDescription | KafkaError],
) -> list[HangingTransaction]:
    """Return those of `found` that hang.

    Raises: the error of a description, unless it is TransactionalIdNotFoundError.
    """
    ids = {listing.producer_id: listing.transactional_id for listing in listings}
    left = []
    for topic_partition, producer in found:
        transactional_id = ids.get(producer.producer_id)
        description = None if transactional_id is None else descriptions.get(transactional_id)
        if isinstance(description, KafkaError):
            if not isinstance(description, TransactionalIdNotFoundError):
                raise description
            description = None
        if description is None or topic_partition not in description.topic_partitions:
            left.append(HangingTransaction(topic_partition, producer, transactional_id))
    return left


def life_of(
    transaction: OpenTransaction,
    listings: Iterable[TransactionListing],
    descriptions: Mapping[str, TransactionDescription | KafkaError],
    before_ms: int,
) -> str | None:
    """Return what shows that an open transaction is alive; None if it hangs.

    It is alive if a coordinator lists its partition. It also counts as alive while its last record
    is not older than `before_ms`: the user may not see every transactional id. Raises: as
    `hanging`.
    """
    where, producer = transaction
    topic_partition = f"{where.topic}-{where.partition}"
    listed = list(listings)
    if not hanging([transaction], listed, descriptions):
        ids = {each.producer_id: each.transactional_id for each in listed}
        name = ids[producer.producer_id]
        known = descriptions[name]
        assert isinstance(known, TransactionDescription)
        return (
            f"its transactional id {quoted(name)} is {known.state} at its coordinator, node"
            f" {known.coordinator_id}, which lists {topic_partition} and ends the transaction"
            f" {known.transaction_timeout_ms:,} ms after its begin at the latest"
        )
    if not old_transactions({where: [producer]}, before_ms):
        return (
            "no coordinator that this user may see knows its producer, but its last record is"
            " younger than the longest transaction may last"
        )
    return None


__all__ = [
    "MAX_TRANSACTION_TIMEOUT_MS",
    "OpenTransaction",
    "hanging",
    "life_of",
    "old_transactions",
]
