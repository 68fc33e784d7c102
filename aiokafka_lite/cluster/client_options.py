"""The options of clients as a type, for editors and type checkers.

Made by `make options` from the fields of ClientConfig: change them there. Does not wait.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from ssl import SSLContext
from typing import Literal, TypedDict

from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.net.endpoint import Connector
from aiokafka_lite.net.sasl.credentials import CredentialsProvider
from aiokafka_lite.net.sasl.mechanism import SaslMechanismFactory
from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider
from aiokafka_lite.secret import Secret


class CommonOptions(TypedDict, total=False):
    """What the constructors of all clients take by name."""

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

    bootstrap_resolve_timeout_ms: int
    """How long a start goes on asking while DNS knows no address of `bootstrap_servers`; 0: once
    (KIP-909).

    Default: 0 milliseconds. Java: bootstrap.resolve.timeout.ms. Not in aiokafka.
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


class ClientOptions(CommonOptions, total=False):
    """What the constructor of a client takes by name, as in
    `def make(**options: Unpack[ClientOptions])`.
    """

    default_api_timeout_ms: int
    """How long a call without a timeout of its own may take, with all retries.

    Default: 60_000 milliseconds. Java: default.api.timeout.ms. Not in aiokafka.
    """


__all__ = ["ClientOptions", "CommonOptions"]
