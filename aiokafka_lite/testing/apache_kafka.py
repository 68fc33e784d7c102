"""A real Apache Kafka for tests and demos, without Docker: its nodes as processes on 127.0.0.1.

Owns the processes and their folders. Every call blocks, because a broker needs seconds. So an event
loop calls it before it starts, or through a thread. `real_kafka()` uses a running broker
(`KAFKA_BOOTSTRAP_SERVERS`), else Java, else Docker through testcontainers.
"""

import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing.access_rules import create_acls
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.certificates import (
    VALID,
    Certificates,
    ClientCertificate,
)
from aiokafka_lite.testing.broker.security.client_options import sasl_options, tls_options
from aiokafka_lite.testing.class_archive import class_archive, keep, writing
from aiokafka_lite.testing.free_ports import server_ports
from aiokafka_lite.testing.java_runtime import (
    JavaNotFoundError,
    find_java,
    kafka_jars,
    release_of,
    tools_version,
)
from aiokafka_lite.testing.kafka_node import KafkaNode, run_java
from aiokafka_lite.testing.secure_listeners import (
    MECHANISMS,
    PLAINTEXT,
    SCRAM_MECHANISMS,
    ListenerProtocol,
    SecureListener,
    authorizer_settings,
    listener_addresses,
    scram_arguments,
    security_settings,
    standard_listeners,
)
from aiokafka_lite.testing.server_properties import server_properties
from aiokafka_lite.testing.zookeeper import ZooKeeper, needs_zookeeper

logger = logging.getLogger(__name__)

DEFAULT_VERSION = "4.4.0"
ARCHIVE_TIMEOUT_S = 180.0
FIRST_WITH_SCRAM = (3, 5)
"""The first release whose nodes take the passwords of SCRAM before their start (KIP-900)."""
FIRST_WITH_TOKENS = (3, 6)
"""The first release whose KRaft has delegation tokens."""
WITHOUT_SCRAM = tuple(each for each in MECHANISMS if each not in SCRAM_MECHANISMS)
ADDRESSES = ("localhost", "127.0.0.1")


class ApacheKafka:
    """A cluster of one or three real Kafka nodes: `with ApacheKafka() as kafka:
    kafka.bootstrap_servers`.

    `version` is any release in Maven from 2.1 on ("4.4.0" by default; "4.3.1" and "3.9.2" are
    tested, too). One before 3.3 gets a ZooKeeper, and has neither `security` nor `acls`.
    `properties` are further lines of server.properties. `racks` names each node's rack.
    `java_options` are further options of each node's Java.

    `security` names the listener of `bootstrap_servers`: "SSL", "SASL_PLAINTEXT" or "SASL_SSL"
    for the passwords of `users` and these `mechanisms`. `secure_listeners` says what else a
    secured cluster has. `listeners` are further ones, and `connections_max_reauth_ms` is how long
    a session of SASL lives. `ca_pem` is what clients trust. `acls` say who may do what; without
    them everybody may do everything. `super_users` may, and so may ANONYMOUS, the user on the
    PLAINTEXT listener.

    The cluster is ready in about 3 s (one node) or 8 s (three). After `archive_classes()` has run
    once on a machine, it is faster. No process, port or folder remains after the block.

    Raises: JavaNotFoundError without Java; KafkaConnectionError with the broker's own log when it
    fails.
    """

    def __init__(
        self,
        version: str = DEFAULT_VERSION,
        *,
        nodes: int = 1,
        properties: dict[str, str] | None = None,
        racks: Sequence[str] | None = None,
        java_options: Sequence[str] = (),
        security: ListenerProtocol = PLAINTEXT,
        users: Mapping[str, str] | None = None,
        mechanisms: Sequence[str] | None = None,
        connections_max_reauth_ms: int = 0,
        acls: Sequence[Acl] | None = None,
        super_users: Sequence[str] = (),
        listeners: Sequence[SecureListener] = (),
    ) -> None:
        if nodes not in {1, 3}:
            raise ValueError(f"nodes={nodes} is not supported: a cluster here has one or three")
        self._has_kraft = not needs_zookeeper(version)
        if not self._has_kraft and (security != PLAINTEXT or listeners or acls is not None):
            raise ValueError(
                f"Kafka {version} is started without security here; use a release from 3.3 on"
            )
        if racks is not None and len(racks) != nodes:
            raise ValueError(f"{len(racks)} racks do not fit {nodes} nodes; name one for each")
        self.version = version
        self.nodes: list[KafkaNode] = []
        self._count = nodes
        self._properties = properties or {}
        self._racks = racks
        self._java_options = java_options
        self._security = security
        self._users = users or {}
        self._listeners = list(listeners)
        offered = MECHANISMS if release_of(version) >= FIRST_WITH_SCRAM else WITHOUT_SCRAM
        self._mechanisms = offered if mechanisms is None and users else tuple(mechanisms or ())
        if security != PLAINTEXT:
            self._listeners += standard_listeners(
                self._users, self._mechanisms, connections_max_reauth_ms
            )
        self._acls = acls
        self._super_users = super_users
        self._certificates = Certificates(ADDRESSES) if self._listeners else None
        self._held = ExitStack()
        self._zookeeper: ZooKeeper | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`HOST:PORT` of every node, separated by commas, on the listener of `security`."""
        return self.servers(self._security)

    def servers(self, listener: str) -> str:
        """Return `HOST:PORT` of every node, separated by commas, on the listener of that name."""
        host = "127.0.0.1" if listener == PLAINTEXT else "localhost"
        return ",".join(f"{host}:{node.ports[listener]}" for node in self.nodes)

    @property
    def ca_pem(self) -> str:
        """The certificate, in PEM, of the authority that signed the nodes' one.

        Raises: ValueError for a cluster without secured listeners.
        """
        return self._of_tls().ca_pem

    def client_certificate(self, name: str, kind: str = VALID) -> ClientCertificate:
        """Return a new client certificate with its key. Its principal is "User:CN=<name>".

        `kind` "expired" and "unknown_ca" make one that the nodes refuse.

        Raises: ValueError for a cluster without secured listeners.
        """
        return self._of_tls().client_certificate(name, kind)

    def client_options(
        self,
        user: str | None = None,
        *,
        mechanism: str | None = None,
        certificate: ClientCertificate | None = None,
    ) -> dict[str, Any]:
        """Return what a producer or consumer needs for `bootstrap_servers`, as EmbeddedBroker does.

        Raises: ValueError for an unknown user or mechanism.
        """
        chosen: dict[str, Any] = {"security_protocol": self._security}
        if self._security in {"SSL", "SASL_SSL"}:
            chosen |= tls_options(self.ca_pem, certificate)
        if user is not None:
            chosen |= sasl_options(user, mechanism, self._users, self._mechanisms)
        return chosen

    def start(self) -> Self:
        """Start every node and return when all serve. A failed start leaves nothing behind."""
        find_java()
        kafka_jars(self.version)
        folder = Path(tempfile.mkdtemp(prefix="aiokafka-lite-kafka-"))
        self._finalizer = weakref.finalize(self, _kill_left, self.nodes, folder, self._held)
        try:
            if self._has_kraft:
                self._make_nodes(folder, self._kraft_settings())
                for node in self.nodes:
                    node.format(*scram_arguments(self._users, self._listeners))
            else:
                self._zookeeper = ZooKeeper(folder / "zookeeper", self._ports(1)[0])
                self._held.callback(self._zookeeper.kill)
                self._zookeeper.start()
                self._make_nodes(folder, self._zookeeper_settings(self._zookeeper.port))
            for node in self.nodes:
                node.spawn()
            for node in self.nodes:
                node.wait_ready(self._count)
            if self._acls:
                create_acls([node.port for node in self.nodes], self._acls)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop every node and remove its files. Idempotent."""
        for node in (
            self.nodes
        ):  # all at once: a controller that waits for its quorum would take its whole timeout
            if node.process is not None and node.process.poll() is None:
                node.process.terminate()
        for node in self.nodes:
            node.stop()
        if self._zookeeper is not None:
            self._zookeeper.stop()
        if self._finalizer is not None:
            self._finalizer()
            self._finalizer = None
        self.nodes.clear()

    def run_tool(
        self,
        main_class: str,
        *arguments: str,
        stdin: bytes = b"",
        timeout_s: float = 180,
        listener: str = PLAINTEXT,
        java_options: Sequence[str] = (),
    ) -> str:
        """Run one of Kafka's own command-line classes on this cluster and return its output.

        The classes are those of `tools_version`. `--bootstrap-server` is added, for `listener`.
        Example: "org.apache.kafka.tools.consumer.ConsoleConsumer".
        """
        server = ("--bootstrap-server", self.servers(listener))
        tools = tools_version(self.version)
        return run_java(
            tools,
            main_class,
            *server,
            *arguments,
            stdin=stdin,
            timeout_s=timeout_s,
            java_options=java_options,
        )

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _ports(self, count: int) -> list[int]:
        """Return ports reserved for this cluster until it stops, also while a node is down."""
        return server_ports(count, self._held)

    def _kraft_settings(self) -> list[tuple[int | None, dict[str, str]]]:
        """Return the port of each node's controller, and the lines that only KRaft has."""
        ports = self._ports(self._count)
        voters = ",".join(f"{i}@127.0.0.1:{port}" for i, port in enumerate(ports, 1))
        return [
            (port, {"node.id": str(i), "controller.quorum.voters": voters})
            for i, port in enumerate(ports, 1)
        ]

    def _zookeeper_settings(self, port: int) -> list[tuple[int | None, dict[str, str]]]:
        """Return the same of nodes without a controller of their own."""
        address = {"zookeeper.connect": f"127.0.0.1:{port}"}
        return [(None, {"broker.id": str(i), **address}) for i in range(1, self._count + 1)]

    def _make_nodes(
        self, folder: Path, controllers: Sequence[tuple[int | None, dict[str, str]]]
    ) -> None:
        names = [PLAINTEXT, *(listener.name for listener in self._listeners)]
        ports = self._ports(len(names) * self._count)
        common = {
            **server_properties(self._count, has_kraft=self._has_kraft),
            **self._security_settings(folder),
            **(authorizer_settings(self._super_users) if self._acls is not None else {}),
        }
        for index, (controller_port, own_settings) in enumerate(controllers, 1):
            place = folder / f"node-{index}"
            own = {name: ports.pop() for name in names}
            settings = {
                **own_settings,
                "log.dirs": str(place / "data"),
                **listener_addresses(own, controller_port),
                **common,
                **({"broker.rack": self._racks[index - 1]} if self._racks else {}),
                **self._properties,
            }
            self.nodes.append(
                KafkaNode(index, self.version, place, own, settings, self._java_options)
            )

    def _of_tls(self) -> Certificates:
        if self._certificates is None:
            raise ValueError("this cluster has no certificates: pass security='SASL_SSL' or 'SSL'")
        return self._certificates

    def _security_settings(self, folder: Path) -> dict[str, str]:
        if self._certificates is None:
            return {}
        keystore, truststore = folder / "broker.pem", folder / "ca.pem"
        keystore.write_text(self._certificates.node_pem())
        truststore.write_text(self._certificates.ca_pem)
        settings = security_settings(self._listeners, str(keystore), str(truststore))
        if release_of(self.version) < FIRST_WITH_TOKENS:
            del settings["delegation.token.secret.key"]  # with which the node would not start
        return settings


def archive_classes(version: str = DEFAULT_VERSION) -> None:
    """Store a broker's classes of that release in Java's prepared form, once per machine.

    After that each node takes half the CPU and half the time to start. It starts and stops one node
    (about 8 s) unless the archive exists, and uses 50 MB of the cache folder. A Java without this
    feature changes nothing.

    Raises: JavaNotFoundError; OSError if the archive cannot be stored.
    """
    archive = class_archive(version)
    if archive.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / archive.name
        try:
            with ApacheKafka(version, java_options=writing(part)) as kafka:
                kafka.nodes[0].stop(ARCHIVE_TIMEOUT_S)
        except KafkaConnectionError as error:
            logger.info("this Java cannot store the classes of Kafka %s: %s", version, error)
        if part.is_file():
            keep(part, archive)


class ExternalKafka:
    """A broker that runs elsewhere: an address, with nothing to start or stop."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers


@contextmanager
def real_kafka(version: str = DEFAULT_VERSION) -> Iterator[ApacheKafka | ExternalKafka]:
    """Yield a real Kafka from the best source of this machine.

    `$KAFKA_BOOTSTRAP_SERVERS` comes first and is only borrowed; then Java; then Docker by
    testcontainers. A Kafka that was started here ends with the block.

    Raises: JavaNotFoundError without all three; KafkaConnectionError with the broker's own log when
    it does not start.
    """
    address = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if address:
        yield ExternalKafka(address)
        return
    try:
        kafka = ApacheKafka(version).start()
    except JavaNotFoundError as no_java:
        # Imported here, because testcontainers is not a dependency and most machines never need it.
        from aiokafka_lite.testing.kafka_container import kafka_container  # noqa: PLC0415

        with kafka_container(version, no_java) as bootstrap_servers:
            yield ExternalKafka(bootstrap_servers)
        return
    try:
        yield kafka
    finally:
        kafka.stop()


def _kill_left(nodes: list[KafkaNode], folder: Path, held: ExitStack) -> None:
    """Kill the nodes that still run.

    This runs when the cluster stops or is garbage-collected, or the interpreter ends.
    """
    for node in nodes:
        node.kill()
    held.close()
    shutil.rmtree(folder, ignore_errors=True)


__all__ = ["ApacheKafka", "ExternalKafka", "archive_classes", "real_kafka"]
