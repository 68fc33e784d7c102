"""The options of producers as a type, for editors and type checkers.

Made by `make options` from the fields of ProducerConfig: change them there. Does not wait.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from ssl import SSLContext
from typing import Any, Generic, Literal, TypedDict

from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.net.endpoint import Connector
from aiokafka_lite.net.sasl.credentials import CredentialsProvider
from aiokafka_lite.net.sasl.mechanism import SaslMechanismFactory
from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider
from aiokafka_lite.producer.producer_config import Partitioner, TopicPartitioner
from aiokafka_lite.secret import Secret
from aiokafka_lite.serialization import AnySerializer, K_contra, V_contra


class ProducerOptions(TypedDict, Generic[K_contra, V_contra], total=False):
    """What the constructor of a producer takes by name, as in
    `def make(**options: Unpack[ProducerOptions])`.
    """

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
    """How connections are encrypted and authenticated. "SSL" and "SASL_SSL" encrypt by TLS; the
    node has to show a certificate for its name.

    Default: "PLAINTEXT". Java: security.protocol.
    """

    ssl_context: SSLContext | None
    """The context of encrypted connections. It is used as it is, so the other `ssl_` options must
    not be set. None: the client makes it from them.

    Default: None. Not in Java.
    """

    ssl_cafile: str | PathLike[str] | None
    """Certificates of the authorities that are trusted, in PEM: the text, or the path of a file.
    Without it and `ssl_cadata` those of the system are trusted. A node's own certificate may stand
    here, too.

    Default: None. Java: ssl.truststore.location. Not in aiokafka.
    """

    ssl_cadata: str | bytes | None
    """Certificates of trusted authorities beside those of `ssl_cafile`: PEM as str, or DER as
    bytes.

    Default: None. Java: ssl.truststore.certificates. Not in aiokafka.
    """

    ssl_certfile: str | PathLike[str] | Secret | None
    """The client's certificate and those of its issuers, in PEM: the text, or the path of a file.
    The private key may be in it.

    Default: None. Java: ssl.keystore.location. Not in aiokafka.
    """

    ssl_keyfile: str | PathLike[str] | Secret | None
    """The private key of `ssl_certfile`, in PEM: the text, or the path of a file. None: it is in
    `ssl_certfile`.

    Default: None. Java: ssl.keystore.key. Not in aiokafka.
    """

    ssl_password: str | bytes | Secret | None
    """Opens an encrypted private key.

    Default: None. Java: ssl.key.password. Not in aiokafka.
    """

    ssl_check_hostname: bool
    """Whether the node's certificate must be for the name or IP address at which the client reaches
    it. False gives up the protection against other machines with a certificate of the same
    authority.

    Default: True. Java: ssl.endpoint.identification.algorithm. Not in aiokafka.
    """

    ssl_ciphers: str | None
    """Ciphers for TLS 1.2 in OpenSSL's notation, such as "ECDHE+AESGCM". Those of TLS 1.3 are
    fixed. None: those of Python.

    Default: None. Java: ssl.cipher.suites. Not in aiokafka.
    """

    ssl_crlfile: str | PathLike[str] | None
    """Certificates that their authority has revoked, in PEM: the text, or the path of a file. A
    node with a revoked certificate is refused.

    Default: None. Only here.
    """

    sasl_mechanism: (
        Literal["PLAIN", "GSSAPI", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
        | SaslMechanismFactory
    )
    """How the client authenticates itself: the name of a mechanism, or a function or class that
    makes a `SaslMechanism` for each authentication. The default is aiokafka's.

    Default: "PLAIN". Java: sasl.mechanism.
    """

    sasl_plain_username: str | None
    """User name for PLAIN and SCRAM; the id of a delegation token.

    Default: None. Not in Java.
    """

    sasl_plain_password: str | Secret | None
    """Password for PLAIN and SCRAM; the HMAC of a delegation token.

    Default: None. Not in Java.
    """

    credentials_provider: CredentialsProvider | None
    """Gives the user name and password for PLAIN and SCRAM, in place of the two options. It is a
    function that returns `SaslCredentials`, or an awaitable of them. It is called for each
    authentication, so a changed password is used by the next one.

    Default: None. Only here.
    """

    sasl_scram_max_iterations: int
    """Most rounds of hashing that a node may ask for by SCRAM; a higher number costs CPU time.

    Default: 16_384 iterations. Only here.
    """

    sasl_scram_tokenauth: bool
    """Whether user name and password for SCRAM are those of a delegation token (KIP-48). Java has
    it in sasl.jaas.config.

    Default: False. Only here.
    """

    sasl_kerberos_service_name: str
    """Name of the brokers' Kerberos service. The default is aiokafka's.

    Default: "kafka". Java: sasl.kerberos.service.name.
    """

    sasl_kerberos_domain_name: str | None
    """Host part of the brokers' Kerberos service; None: the name by which the client reaches each
    node.

    Default: None. Not in Java.
    """

    sasl_kerberos_principal: str | None
    """The client's Kerberos principal; None: that of the ticket cache or keytab.

    Default: None. Only here.
    """

    sasl_kerberos_keytab: str | None
    """Path of a keytab with the client's key. None: the ticket cache of `kinit`.

    Default: None. Only here.
    """

    sasl_oauth_token_provider: AbstractTokenProvider | None
    """Gives the tokens for OAUTHBEARER.

    Default: None. Not in Java.
    """

    sasl_provider_timeout_ms: int
    """How long `credentials_provider`, a token provider or Kerberos may take for one
    authentication.

    Default: 4000 milliseconds. Only here.
    """

    bootstrap_servers: str | Sequence[str]
    """Addresses of brokers to connect to first, "host:port,host:port" or a list of such. The
    default port is 9092. One reachable broker is enough to find the others. The default is
    aiokafka's.

    Default: "localhost". Java: bootstrap.servers.
    """

    client_id: str | None
    """Name of this client in the brokers' logs and quotas. An empty name, or None, is replaced at
    construction.

    Default: "". Java: client.id.
    """

    bootstrap_timeout_ms: int
    """How long a start goes on asking `bootstrap_servers` when none of them answers; 0: each is
    asked once.

    Default: 0 milliseconds. Only here.
    """

    request_timeout_ms: int
    """How long to wait for the response to a request before the connection counts as dead.

    Default: 30_000 milliseconds. Java: request.timeout.ms.
    """

    metadata_max_age_ms: int
    """Age at which the client refreshes the cluster's metadata, even without an error.

    Default: 300_000 milliseconds. Java: metadata.max.age.ms.
    """

    retry_backoff_ms: int
    """Pause before the first retry of a failed request; it doubles with each further one.

    Default: 100 milliseconds. Java: retry.backoff.ms.
    """

    retry_backoff_max_ms: int
    """Longest pause between two retries of a request.

    Default: 1000 milliseconds. Java: retry.backoff.max.ms. Not in aiokafka.
    """

    reconnect_backoff_ms: int
    """Pause before the next attempt to connect to a node; it doubles with each further failure.

    Default: 50 milliseconds. Java: reconnect.backoff.ms. Not in aiokafka.
    """

    reconnect_backoff_max_ms: int
    """Longest pause between two attempts to connect to a node. If only `reconnect_backoff_ms` is
    set, this one is equal to it.

    Default: 1000 milliseconds. Java: reconnect.backoff.max.ms. Not in aiokafka.
    """

    socket_connection_setup_timeout_ms: int
    """How long the first attempt to connect to a node may take; it doubles with each further
    failure.

    Default: 10_000 milliseconds. Java: socket.connection.setup.timeout.ms. Not in aiokafka.
    """

    socket_connection_setup_timeout_max_ms: int
    """Longest time that an attempt to connect may take.

    Default: 30_000 milliseconds. Java: socket.connection.setup.timeout.max.ms. Not in aiokafka.
    """

    connections_max_idle_ms: int | None
    """Close a connection that was not used for this long; None: never.

    Default: 540_000 milliseconds. Java: connections.max.idle.ms.
    """

    send_buffer_bytes: int
    """Size of the socket's send buffer (SO_SNDBUF); -1, unlike Java's default, lets the system
    choose.

    Default: -1 bytes. Java: send.buffer.bytes. Not in aiokafka.
    """

    receive_buffer_bytes: int
    """Size of the socket's receive buffer (SO_RCVBUF); -1, unlike Java's default, lets the system
    choose. A size set here limits a connection to so many bytes in each round trip.

    Default: -1 bytes. Java: receive.buffer.bytes. Not in aiokafka.
    """

    metadata_recovery_strategy: Literal["rebootstrap", "none"]
    """What to do when no known broker answers: connect to `bootstrap_servers` again (KIP-899), or
    "none".

    Default: "rebootstrap". Java: metadata.recovery.strategy. Not in aiokafka.
    """

    metadata_recovery_rebootstrap_trigger_ms: int
    """Connect to `bootstrap_servers` again if no metadata arrived for this long (KIP-1102).

    Default: 300_000 milliseconds. Java: metadata.recovery.rebootstrap.trigger.ms. Not in aiokafka.
    """

    metadata_cluster_check_enable: bool
    """Tell brokers from 4.4 on which node of which cluster a connection is meant for (KIP-1242). If
    another one answers, connect to `bootstrap_servers` again. Needs
    `metadata_recovery_strategy="rebootstrap"`.

    Default: True. Java: metadata.cluster.check.enable. Not in aiokafka.
    """

    max_api_versions: Mapping[str, int] | None
    """Highest version of an API by its name, such as {"Fetch": 12}, for brokers and proxies with
    faults in newer ones. None: the newest that both sides know.

    Default: None. Only here.
    """

    connect: Connector | None
    """Makes the connections, for proxies and Unix sockets: `async def connect(host, port)` returns
    a connected socket. It is called with each address as `bootstrap_servers` and the brokers name
    it. TLS and authentication follow on that socket.

    Default: None. Only here.
    """

    observer: Observer | None
    """Hears what the client does: requests, batches, polls, rebalances, commits and failures. That
    of `aiokafka_lite.observe` exports them as metrics.

    Default: None. Java: metric.reporters. Not in aiokafka.
    """

    enable_metrics_push: bool
    """Push metrics of this client to brokers that ask for them (KIP-714). Brokers without a
    ClientTelemetry plugin never do.

    Default: True. Java: enable.metrics.push. Not in aiokafka.
    """

    key_serializer: AnySerializer[K_contra] | None
    """Turns a key into bytes; None: keys are bytes-like. A function of the key, or an object with
    `serialize(topic, headers, obj)`; either may be an `async def`.

    Default: None. Java: key.serializer.
    """

    value_serializer: AnySerializer[V_contra] | None
    """Turns a value into bytes; None: values are bytes-like. A function of the value, or an object
    with `serialize(topic, headers, obj)`; either may be an `async def`.

    Default: None. Java: value.serializer.
    """

    acks: Literal["all", -1, 0, 1]
    """Replicas that must have a batch before it is acknowledged: "all" or -1 for all in sync, 1 for
    the leader. With 0 the broker does not answer.

    Default: "all". Java: acks.
    """

    enable_idempotence: bool | None
    """Write each record exactly once and in order (KIP-98, KIP-679). None: if `acks` and `retries`
    allow it. True: raise an error if they do not. A `transactional_id` means True.

    Default: None. Java: enable.idempotence.
    """

    compression_type: Literal["none", "gzip", "snappy", "lz4", "zstd"] | None
    """Codec that batches are compressed with; None: they are not.

    Default: None. Java: compression.type.
    """

    compression_gzip_level: int | None
    """Level of gzip from 1 to 9, or -1 for zlib's default; None: 1, which is faster than Java's
    default (KIP-390).

    Default: None. Java: compression.gzip.level. Not in aiokafka.
    """

    compression_lz4_level: int | None
    """Level of lz4 from 1 to 17; None: its fastest, as in Java (KIP-390).

    Default: None. Java: compression.lz4.level. Not in aiokafka.
    """

    compression_zstd_level: int | None
    """Level of zstd from -131072 to 22; None: 3 (KIP-390).

    Default: None. Java: compression.zstd.level. Not in aiokafka.
    """

    max_batch_size: int
    """Size at which a batch of one partition is full. A larger record is sent in a batch of its
    own.

    Default: 16_384 bytes. Java: batch.size.
    """

    max_backlog_batch_size: int
    """Largest size of a batch behind others of its partition, or full before it is sent. A value
    not above `max_batch_size` turns this off, as do slow links, compression and `acks=0`. If not
    set, it is off with a `max_batch_size` below its default.

    Default: 262_144 bytes. Only here.
    """

    max_batch_size_by_topic: Mapping[str, int] | None
    """`max_batch_size` of single topics, such as {"images": 1_000_000}. Their batches do not grow
    behind others.

    Default: None. Only here.
    """

    linger_ms: int
    """How long a batch that is not full waits for more records.

    Default: 5 milliseconds. Java: linger.ms.
    """

    max_request_size: int
    """Largest record together with its batch's header, and most data in one request.

    Default: 1_048_576 bytes. Java: max.request.size.
    """

    buffer_memory: int
    """Memory of all batches that are not acknowledged. `send` waits while it is used up.

    Default: 33_554_432 bytes. Java: buffer.memory. Not in aiokafka.
    """

    max_block_ms: int
    """How long `send` and `partitions_for` wait for metadata and memory together.

    Default: 60_000 milliseconds. Java: max.block.ms. Not in aiokafka.
    """

    delivery_timeout_ms: int
    """Time from `send` to the acknowledgement, with queueing and retries (KIP-91). If not set, it
    is at least `linger_ms` + `request_timeout_ms`.

    Default: 120_000 milliseconds. Java: delivery.timeout.ms. Not in aiokafka.
    """

    stop_timeout_ms: int
    """How long `stop()` and the end of `async with` go on sending what is queued. Records that are
    not acknowledged by then fail.

    Default: 30_000 milliseconds. Only here.
    """

    retries: int
    """Attempts after the first one; `delivery_timeout_ms` is the better limit.

    Default: 2_147_483_647 retries. Java: retries. Not in aiokafka.
    """

    metadata_max_idle_ms: int
    """Forget the metadata of a topic that nothing was sent to for this long.

    Default: 300_000 milliseconds. Java: metadata.max.idle.ms. Not in aiokafka.
    """

    max_in_flight_requests_per_connection: int
    """Requests to one node that may wait for their response; an idempotent producer may have 5 at
    most. Without idempotence, 1 keeps the order.

    Default: 5 requests. Java: max.in.flight.requests.per.connection. Not in aiokafka.
    """

    partitioner: (
        Partitioner
        | TopicPartitioner
        | Literal[
            "consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random"
        ]
        | None
    )
    """Chooses the partition of a record. None: by the key's hash as Java; without a key, one
    partition for about `max_batch_size` bytes, then another (KIP-480, KIP-794). A name is a hash of
    librdkafka, whose default is "consistent_random".

    Default: None. Java: partitioner.class.
    """

    partitioner_ignore_keys: bool
    """Choose the partition of a record with a key as if it had none.

    Default: False. Java: partitioner.ignore.keys. Not in aiokafka.
    """

    partitioner_adaptive_partitioning_enable: bool
    """Prefer partitions with short queues for records without a key (KIP-794).

    Default: True. Java: partitioner.adaptive.partitioning.enable. Not in aiokafka.
    """

    partitioner_availability_timeout_ms: int
    """Records without a key avoid a node that nothing could be sent to for this long; 0: never.

    Default: 0 milliseconds. Java: partitioner.availability.timeout.ms. Not in aiokafka.
    """

    transactional_id: str | None
    """Name that lets this producer use transactions; one producer at a time may have it. Records
    count only when their transaction commits (KIP-98).

    Default: None. Java: transactional.id.
    """

    transaction_timeout_ms: int
    """How long a transaction may be open before its coordinator aborts it.

    Default: 60_000 milliseconds. Java: transaction.timeout.ms.
    """

    interceptors: Sequence[Any]
    """Objects with one or more of `on_send(record)`, `on_acknowledgement(metadata)` and
    `on_send_error(what, error)` (KIP-42). `on_send` returns the record to send, and may be async.

    Default: (). Java: interceptor.classes. Not in aiokafka.
    """


__all__ = ["ProducerOptions"]
