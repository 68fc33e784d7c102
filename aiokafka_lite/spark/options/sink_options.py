"""The options of a write with `kafka-lite`, under the names of Spark's own Kafka connector.

The parsed options travel to executors, so they hold plain values only. Does not wait.
"""

from collections.abc import Mapping
from typing import Any, Final

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.spark.options.given_options import GivenOptions
from aiokafka_lite.spark.options.kafka_keys import PREFIX, SINK_KEYS, boolean
from aiokafka_lite.spark.options.sealed_properties import client_arguments
from aiokafka_lite.spark.options.source_options import SOURCE_OPTIONS
from aiokafka_lite.spark.options.token_options import token_mechanism

_OF_BATCH: Final = ("txnAppId", "txnVersion")
"""Delta's names for the same things."""
_OF_TRANSACTIONS: Final = ("transactionalIdPrefix", "transactionTimeoutMs", *_OF_BATCH)
_SINK_OPTIONS: Final = (
    *("topic", "includeHeaders", "delivery"),
    *_OF_TRANSACTIONS,
    *SOURCE_OPTIONS,
)
"""The source's options. One set may serve both sides, so they are accepted here."""

_BULK: Final = {"max_batch_size": 131_072}
"""A different default than the producer's.

A task's rows come all at once, and batches of 16 KB take twice the CPU.
"""
_PREFIX: Final = "kafka-lite"
_MAX_PREFIX: Final = 200
_TIMEOUT_MS: Final = 120_000
_DELIVERIES: Final = ("at-least-once", "transactional")


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkOptions:
    """The options of a write."""

    client: dict[str, object]
    """Arguments of AIOKafkaProducer; Java's security properties are one of them, sealed."""
    topic: str | None = None
    """The topic of all records; None: the column of that name says it."""
    is_transactional: bool = False
    """Whether rows count exactly once, and only when the driver commits them."""
    transactional_id_prefix: str = _PREFIX
    """The beginning of transactional ids, and of the groups of their markers."""
    txn_app_id: str | None = None
    """A name of the query that writes; None: Spark says which query it is."""
    txn_version: int | None = None
    """The number of the batch; None: Spark says it."""
    token_mechanism: str | None = None
    """With a mechanism, executors log in by a delegation token that the planner gets."""
    transaction_timeout_ms: int = _TIMEOUT_MS
    """The time limit of a batch. After it, coordinators abort what the batch has written."""
    checkpoint: str | None = None
    """The folder of a stream's checkpoint, which Spark gives a stream's sink, too."""

    @property
    def transactional_client(self) -> dict[str, object]:
        """Return the arguments of a client that takes part in transactions.

        The id only marks it as transactional.
        """
        return {
            **self.client,
            "transactional_id": self.transactional_id_prefix,
            "transaction_timeout_ms": self.transaction_timeout_ms,
        }

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "SinkOptions":
        """Read the options. Raises: KafkaConfigurationError, a ValueError, with all faults."""
        reader = GivenOptions(options, "sink")
        client, faults = SINK_KEYS.arguments(reader.given)
        reader.faults += faults
        reader.optional("includeHeaders", boolean, "true or false")
        topic = reader.text("topic")
        client = {**_BULK, **client}
        found = cls(
            client=client,
            topic=topic,
            token_mechanism=token_mechanism(reader, client),
            **_transactions(reader, topic),
        )
        used = found.transactional_client if found.is_transactional else client
        reader.check_client(_producer_config, used)
        reader.warn_of_unknown(_SINK_OPTIONS)
        reader.raise_faults()
        return found


def _transactions(reader: GivenOptions, topic: str | None) -> dict[str, Any]:
    """Return the options about transactions, by the names in SinkOptions."""
    delivery = reader.text("delivery")
    if delivery not in (None, *_DELIVERIES):
        known = " or ".join(map(repr, _DELIVERIES))
        reader.fault(f"option delivery={delivery!r} is not known; it is {known}")
    if delivery != "transactional":
        for name in _OF_TRANSACTIONS:
            if name in reader:
                reader.fault(f"option {name} has no effect without delivery=transactional")
        return {}
    if f"{PREFIX}transaction.timeout.ms" in reader:
        reader.fault(f"option {PREFIX}transaction.timeout.ms is transactionTimeoutMs here")
    prefix = reader.text("transactionalIdPrefix")
    if prefix is not None and not 0 < len(prefix) <= _MAX_PREFIX:
        reader.fault(
            f"option transactionalIdPrefix has {len(prefix)} characters, and may have 1 to"
            f" {_MAX_PREFIX}"
        )
    app_id, version = reader.text("txnAppId"), reader.number("txnVersion", 0)
    if (app_id is None) != ("txnVersion" not in reader):
        there, missing = _OF_BATCH if app_id is not None else _OF_BATCH[::-1]
        reader.fault(f"option {there} needs {missing}: one names the query, the other its batch")
    if app_id is not None and not 0 < len(app_id) <= _MAX_PREFIX:
        reader.fault(
            f"option txnAppId has {len(app_id)} characters, and may have 1 to {_MAX_PREFIX}"
        )
    timeout_ms = reader.number("transactionTimeoutMs", 1, 2**31 - 1)
    # Two writes of one foreachBatch usually go to two topics.
    default = _PREFIX if topic is None else f"{_PREFIX}-{topic}"
    return {
        "is_transactional": True,
        "transactional_id_prefix": prefix or default,
        "txn_app_id": app_id,
        "txn_version": version,
        "checkpoint": reader.text("checkpointLocation") or None,
        "transaction_timeout_ms": _TIMEOUT_MS if timeout_ms is None else timeout_ms,
    }


def _producer_config(client: dict[str, Any]) -> object:
    # Executors also have options, but never check them. So they do not need this import.
    from aiokafka_lite.producer.producer_config import ProducerConfig  # noqa: PLC0415

    return ProducerConfig(**client_arguments(client))


__all__ = ["SinkOptions"]
