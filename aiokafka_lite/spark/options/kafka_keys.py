"""Maps the options `kafka.*`, which have Java's names, to arguments of the clients.

An option is accepted, refused with a reason, known to change nothing here, or unknown. The last two
kinds are logged once per process. Does not wait.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.security_properties import is_security_property
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.secret import Secret
from aiokafka_lite.spark.options.sealed_properties import SECURITY, SealedProperties
from aiokafka_lite.spark.options.secret_reference import is_reference, read_secret

logger = logging.getLogger(__name__)

PREFIX: Final = "kafka."


def boolean(text: str) -> bool:
    """Return the meaning of "true" or "false", in any case.

    Raises: ValueError for anything else.
    """
    known = {"true": True, "false": False}
    if text.strip().lower() not in known:
        raise ValueError(f"{text!r} is neither true nor false")
    return known[text.strip().lower()]


def _idle_ms(text: str) -> int | None:
    """In Java -1 means never."""
    return None if int(text) < 0 else int(text)


def _codec(text: str) -> str | None:
    return None if text == "none" else text


Key = tuple[str, Callable[[str], object]]

COMMON: Final[Mapping[str, Key]] = {
    "bootstrap.servers": ("bootstrap_servers", str),
    "bootstrap.resolve.timeout.ms": ("bootstrap_resolve_timeout_ms", int),
    "client.id": ("client_id", str),
    "request.timeout.ms": ("request_timeout_ms", int),
    "retry.backoff.ms": ("retry_backoff_ms", int),
    "retry.backoff.max.ms": ("retry_backoff_max_ms", int),
    "reconnect.backoff.ms": ("reconnect_backoff_ms", int),
    "reconnect.backoff.max.ms": ("reconnect_backoff_max_ms", int),
    "socket.connection.setup.timeout.ms": ("socket_connection_setup_timeout_ms", int),
    "socket.connection.setup.timeout.max.ms": ("socket_connection_setup_timeout_max_ms", int),
    "connections.max.idle.ms": ("connections_max_idle_ms", _idle_ms),
    "metadata.max.age.ms": ("metadata_max_age_ms", int),
    "metadata.recovery.strategy": ("metadata_recovery_strategy", str),
    "metadata.recovery.rebootstrap.trigger.ms": (
        "metadata_recovery_rebootstrap_trigger_ms",
        int,
    ),
    "metadata.cluster.check.enable": ("metadata_cluster_check_enable", boolean),
    "enable.metrics.push": ("enable_metrics_push", boolean),
    "send.buffer.bytes": ("send_buffer_bytes", int),
    "receive.buffer.bytes": ("receive_buffer_bytes", int),
}
CONSUMER: Final[Mapping[str, Key]] = {
    **COMMON,
    "default.api.timeout.ms": ("default_api_timeout_ms", int),
    "isolation.level": ("isolation_level", str),
    "fetch.min.bytes": ("fetch_min_bytes", int),
    "fetch.max.bytes": ("fetch_max_bytes", int),
    "fetch.max.wait.ms": ("fetch_max_wait_ms", int),
    "max.partition.fetch.bytes": ("max_partition_fetch_bytes", int),
    "check.crcs": ("check_crcs", boolean),
    "client.rack": ("client_rack", str),
}
PRODUCER: Final[Mapping[str, Key]] = {
    **COMMON,
    "acks": ("acks", lambda text: text if text == "all" else int(text)),
    "enable.idempotence": ("enable_idempotence", boolean),
    "compression.type": ("compression_type", _codec),
    "compression.gzip.level": ("compression_gzip_level", int),
    "compression.lz4.level": ("compression_lz4_level", int),
    "compression.zstd.level": ("compression_zstd_level", int),
    "batch.size": ("max_batch_size", int),
    "linger.ms": ("linger_ms", int),
    "buffer.memory": ("buffer_memory", int),
    "max.request.size": ("max_request_size", int),
    "max.block.ms": ("max_block_ms", int),
    "delivery.timeout.ms": ("delivery_timeout_ms", int),
    "retries": ("retries", int),
    "max.in.flight.requests.per.connection": ("max_in_flight_requests_per_connection", int),
    "metadata.max.idle.ms": ("metadata_max_idle_ms", int),
    "partitioner.ignore.keys": ("partitioner_ignore_keys", boolean),
    "partitioner.adaptive.partitioning.enable": (
        "partitioner_adaptive_partitioning_enable",
        boolean,
    ),
    "partitioner.availability.timeout.ms": ("partitioner_availability_timeout_ms", int),
    "partitioner.rack.aware": ("partitioner_rack_aware", boolean),
    "client.rack": ("client_rack", str),
}

_DESERIALIZER = (
    "{part}s come as the bytes that were sent; turn them into something else with DataFrame"
    " operations"
)
_SERIALIZER = "{part}s are sent as the bytes they are; make those with DataFrame operations"
REFUSED_BY_SOURCE: Final[Mapping[str, str]] = {
    "auto.offset.reset": (
        "startingOffsets says where to begin, and then Spark keeps the offsets; so no record of a"
        " later topic or partition is missed"
    ),
    "key.deserializer": _DESERIALIZER.format(part="key"),
    "value.deserializer": _DESERIALIZER.format(part="value"),
    "enable.auto.commit": "Spark keeps the offsets; for lag tools set commitGroupId",
    "interceptor.classes": "they may change what is read, and are Java classes",
}
REFUSED_BY_SINK: Final[Mapping[str, str]] = {
    "key.serializer": _SERIALIZER.format(part="key"),
    "value.serializer": _SERIALIZER.format(part="value"),
    "interceptor.classes": "they may change what is written, and are Java classes",
    "partitioner.class": (
        "it is a Java class; compute a column 'partition', or leave it to the key's hash"
    ),
    "transactional.id": (
        "a write has several tasks and attempts, which would fence each other; set"
        " delivery=transactional, and transactionalIdPrefix to choose how the ids begin"
    ),
}

_MAY_BE_REFERENCES: Final = frozenset(
    {
        *("sasl.jaas.config", "sasl.oauthbearer.client.credentials.client.secret"),
        *("ssl.truststore.password", "ssl.truststore.certificates", "ssl.keystore.password"),
        *("ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.key.password"),
    }
)
"""Security properties that may be given as `env:NAME` or `file:PATH`."""
_WITHOUT_EFFECT: Final = frozenset(
    {
        *("client.dns.lookup", "metric.reporters", "metrics.num.samples"),
        *("metrics.recording.level", "metrics.sample.window.ms"),
        *("security.providers", "auto.include.jmx.reporter"),
    }
)
SOURCE_WITHOUT_EFFECT: Final = _WITHOUT_EFFECT | {
    *("group.id", "group.instance.id", "group.protocol", "group.remote.assignor"),
    *("session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "max.poll.records"),
    *("auto.commit.interval.ms", "partition.assignment.strategy", "exclude.internal.topics"),
    *("allow.auto.create.topics",),
}
"""A read uses no group and no poll of the user. Ranges are assigned, and topics are not created."""
SINK_WITHOUT_EFFECT: Final = _WITHOUT_EFFECT | {"transaction.timeout.ms"}


class KafkaKeys:
    """The `kafka.*` options of one side, split into arguments and faults."""

    def __init__(
        self,
        keys: Mapping[str, Key],
        refused: Mapping[str, str],
        without_effect: frozenset[str],
    ) -> None:
        self._keys = keys
        self._refused = refused
        self._without_effect = without_effect

    def arguments(self, options: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
        """Return the client's arguments, and a sentence for each fault.

        `options` have names in lower case; those without the prefix are skipped.
        """
        arguments: dict[str, object] = {}
        security: dict[str, Secret] = {}
        faults: list[str] = []
        unknown: list[str] = []
        idle: list[str] = []
        for option, text in sorted(options.items()):
            if not option.startswith(PREFIX):
                continue
            name = option.removeprefix(PREFIX)
            reason = self._refused.get(name)
            if reason is not None:
                faults.append(f"option {option} is not supported: {reason}")
            elif name in self._keys:
                argument, convert = self._keys[name]
                try:
                    arguments[argument] = convert(text)
                except ValueError:
                    faults.append(f"option {option}={text!r} is not {_kind(convert)}")
            elif is_security_property(name):
                try:
                    security[name] = Secret(_resolved(name, text))
                except KafkaConfigurationError as error:
                    faults.append(f"option {option}: {reason_of(error)}")
            elif name in self._without_effect:
                idle.append(option)
            else:
                unknown.append(option)
        if security:
            arguments[SECURITY] = SealedProperties(security)
        faults.extend(_bootstrap_faults(arguments))
        if idle:
            warn_once(f"without effect in kafka-lite: {', '.join(idle)}")
        if unknown:
            known = ", ".join(f"{PREFIX}{name}" for name in sorted(self._keys))
            warn_once(f"not known, and so without effect: {', '.join(unknown)}; known are {known}")
        return arguments, faults


SOURCE_KEYS: Final = KafkaKeys(CONSUMER, REFUSED_BY_SOURCE, SOURCE_WITHOUT_EFFECT)
SINK_KEYS: Final = KafkaKeys(PRODUCER, REFUSED_BY_SINK, SINK_WITHOUT_EFFECT)


def _resolved(name: str, text: str) -> str:
    """Return the property, read if it is a reference. The driver reads it, and executors get it
    sealed. Raises: as `read_secret`."""
    if name not in _MAY_BE_REFERENCES or not is_reference(text.strip()):
        return text
    needed = "the driver needs it from its start on, and passes the value to executors"
    return read_secret(text.strip(), needed=needed)


_said: set[str] = set()


def warn_once(text: str) -> None:
    """Log a warning that this process has not logged before."""
    if text not in _said:
        _said.add(text)
        logger.warning("%s", text)


def _bootstrap_faults(arguments: Mapping[str, object]) -> Iterator[str]:
    servers = arguments.get("bootstrap_servers")
    if not (isinstance(servers, str) and servers.strip()):
        yield "option kafka.bootstrap.servers must be specified: HOST:PORT,HOST:PORT,…"


def _kind(convert: Callable[[str], object]) -> str:
    return "true or false" if convert is boolean else "a whole number"


__all__ = ["COMMON", "PREFIX", "SINK_KEYS", "SOURCE_KEYS", "KafkaKeys", "boolean", "warn_once"]
