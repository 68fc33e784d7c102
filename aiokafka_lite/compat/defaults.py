"""The options of aiokafka's constructors with their defaults, and what follows from them here.

Under the name `aiokafka` a client has these defaults. Two stay those of this package, because
others are less safe: `acks` is "all", and the producer is idempotent. Does not wait.
"""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from itertools import count
from typing import Any, Final

from aiokafka_lite.compat.module_names import API_VERSION
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.producer.partition.partitioner import DefaultPartitioner

_missing: Final = "all"
"""The default of `acks`, which FastStream passes on where its user has chosen none."""
_DEFAULT_PARTITIONER: Final = DefaultPartitioner()
_CLIENT_ID: Final = f"aiokafka-{API_VERSION}"
_SASL: Final[Mapping[str, Any]] = {
    "sasl_mechanism": "PLAIN",
    "sasl_plain_password": None,
    "sasl_plain_username": None,
    "sasl_kerberos_service_name": "kafka",
    "sasl_kerberos_domain_name": None,
    "sasl_oauth_token_provider": None,
}

DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "AIOKafkaProducer": {
        "loop": None,
        "bootstrap_servers": "localhost",
        "client_id": None,
        "metadata_max_age_ms": 300_000,
        "request_timeout_ms": 40_000,
        "api_version": None,
        "acks": _missing,
        "key_serializer": None,
        "value_serializer": None,
        "compression_type": None,
        "max_batch_size": 16_384,
        "partitioner": _DEFAULT_PARTITIONER,
        "max_request_size": 1_048_576,
        "linger_ms": 0,
        "retry_backoff_ms": 100,
        "security_protocol": "PLAINTEXT",
        "ssl_context": None,
        "connections_max_idle_ms": 540_000,
        "enable_idempotence": False,
        "transactional_id": None,
        "transaction_timeout_ms": 60_000,
        **_SASL,
    },
    "AIOKafkaConsumer": {
        "loop": None,
        "bootstrap_servers": "localhost",
        "client_id": _CLIENT_ID,
        "group_id": None,
        "group_instance_id": None,
        "key_deserializer": None,
        "value_deserializer": None,
        "fetch_max_wait_ms": 500,
        "fetch_max_bytes": 52_428_800,
        "fetch_min_bytes": 1,
        "max_partition_fetch_bytes": 1_048_576,
        "request_timeout_ms": 40_000,
        "retry_backoff_ms": 100,
        "auto_offset_reset": "latest",
        "enable_auto_commit": True,
        "auto_commit_interval_ms": 5000,
        "check_crcs": True,
        "metadata_max_age_ms": 300_000,
        "partition_assignment_strategy": (RoundRobinPartitionAssignor,),
        "max_poll_interval_ms": 300_000,
        "rebalance_timeout_ms": None,
        "session_timeout_ms": 10_000,
        "heartbeat_interval_ms": 3000,
        "consumer_timeout_ms": 200,
        "max_poll_records": None,
        "ssl_context": None,
        "security_protocol": "PLAINTEXT",
        "api_version": None,
        "exclude_internal_topics": True,
        "connections_max_idle_ms": 540_000,
        "isolation_level": "read_uncommitted",
        **_SASL,
        "client_rack": None,
    },
    "AIOKafkaClient": {
        "loop": None,
        "bootstrap_servers": "localhost",
        "client_id": _CLIENT_ID,
        "metadata_max_age_ms": 300_000,
        "request_timeout_ms": 40_000,
        "retry_backoff_ms": 100,
        "api_version": None,
        "security_protocol": "PLAINTEXT",
        "ssl_context": None,
        "connections_max_idle_ms": 540_000,
        **_SASL,
    },
    "AIOKafkaAdminClient": {
        "loop": None,
        "bootstrap_servers": "localhost",
        "client_id": _CLIENT_ID,
        "request_timeout_ms": 40_000,
        "connections_max_idle_ms": 540_000,
        "retry_backoff_ms": 100,
        "metadata_max_age_ms": 300_000,
        "security_protocol": "PLAINTEXT",
        "ssl_context": None,
        "api_version": None,
        **_SASL,
    },
}
"""Class -> option -> default of aiokafka 0.14."""

_SECURE: Final = ("SSL", "SASL_SSL")
_SASL_PROTOCOLS: Final = ("SASL_PLAINTEXT", "SASL_SSL")
_PROTOCOLS: Final = ("PLAINTEXT", *_SECURE, "SASL_PLAINTEXT")
_OWN_TLS: Final = ("ssl_cafile", "ssl_cadata", "ssl_certfile", "ssl_keyfile")
_producer_numbers: Final = count(1)


def signature_of(name: str) -> Signature:
    """Return the signature of a constructor of aiokafka. Ours takes its other options as well."""
    keyword_only = Parameter.KEYWORD_ONLY
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    if name == "AIOKafkaConsumer":
        parameters.append(Parameter("topics", Parameter.VAR_POSITIONAL))
    parameters += [
        Parameter(option, keyword_only, default=default)
        for option, default in DEFAULTS[name].items()
    ]
    return Signature(parameters)


def with_defaults(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for a constructor of this package: those that were given, and aiokafka's
    defaults where ours are others.

    Raises: ValueError, with aiokafka's text, for what aiokafka refuses so.
    """
    _refuse(options)
    return _CHOOSE[name](options)


def _refuse(options: Mapping[str, Any]) -> None:
    protocol = options.get("security_protocol", "PLAINTEXT")
    if protocol not in _PROTOCOLS:
        raise ValueError("`security_protocol` should be SSL or PLAINTEXT")
    own_tls = any(options.get(name) is not None for name in _OWN_TLS)
    if protocol in _SECURE and options.get("ssl_context") is None and not own_tls:
        raise ValueError("`ssl_context` is mandatory if security_protocol=='SSL'")
    is_plain = options.get("sasl_mechanism", "PLAIN") == "PLAIN"
    if protocol in _SASL_PROTOCOLS and is_plain and "credentials_provider" not in options:
        given = (options.get("sasl_plain_username"), options.get("sasl_plain_password"))
        if None in given:
            raise ValueError("sasl_plain_username and sasl_plain_password required for PLAIN sasl")


def _connection(options: dict[str, Any]) -> dict[str, Any]:
    chosen = {"client_id": _CLIENT_ID, "request_timeout_ms": 40_000, **options}
    if options.get("client") is not None and "request_timeout_ms" not in options:
        del chosen["request_timeout_ms"]
    return chosen


def _producer(options: dict[str, Any]) -> dict[str, Any]:
    chosen = _connection({"linger_ms": 0, **options})
    if options.get("client_id") is None:
        chosen["client_id"] = f"aiokafka-producer-{next(_producer_numbers)}"
    # So long aiokafka waits for metadata, and for the room that a full batch leaves.
    chosen.setdefault("max_block_ms", chosen.get("request_timeout_ms", 40_000))
    if chosen.get("partitioner") is _DEFAULT_PARTITIONER:
        del chosen["partitioner"]
    return chosen


def _consumer(options: dict[str, Any]) -> dict[str, Any]:
    chosen = _connection({"max_poll_records": None, **options})
    chosen.setdefault("default_api_timeout_ms", chosen.get("request_timeout_ms", 40_000))
    if chosen.get("group_protocol", "classic") == "classic":
        strategy = DEFAULTS["AIOKafkaConsumer"]["partition_assignment_strategy"]
        chosen.setdefault("partition_assignment_strategy", strategy)
        chosen.setdefault("session_timeout_ms", 10_000)
        if chosen.get("group_id") is not None and chosen.get("rebalance_timeout_ms") is None:
            chosen["rebalance_timeout_ms"] = chosen["session_timeout_ms"]
    return chosen


_CHOOSE: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "AIOKafkaProducer": _producer,
    "AIOKafkaConsumer": _consumer,
    "AIOKafkaClient": _connection,
    "AIOKafkaAdminClient": _connection,
}

__all__ = ["DEFAULTS", "_DEFAULT_PARTITIONER", "_missing", "signature_of", "with_defaults"]
