"""A real Apache Kafka for tests and demos, without Docker: KRaft nodes as processes on 127.0.0.1.

Owns the processes and their folders. Every call blocks, because a broker needs seconds. So an event
loop calls it before it starts, or through a thread. `real_kafka()` uses a running broker
(`KAFKA_BOOTSTRAP_SERVERS`), else Java, else Docker through testcontainers.
"""

import logging
import os
import shutil
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing.broker_probe import known_brokers
from aiokafka_lite.testing.class_archive import chosen, class_archive, keep, reading, writing
from aiokafka_lite.testing.free_ports import server_ports
from aiokafka_lite.testing.java_runtime import (
    JavaNotFoundError,
    find_java,
    kafka_jars,
    tools_version,
)
from aiokafka_lite.testing.server_properties import server_properties

logger = logging.getLogger(__name__)

DEFAULT_VERSION = "4.4.0"
READY_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 15.0
ARCHIVE_TIMEOUT_S = 180.0
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
JVM_FLAGS = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
TOOL_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class KafkaNode:
    """One KRaft node (broker and controller) as a child process; stopped by its own pid."""

    def __init__(
        self,
        node_id: int,
        version: str,
        folder: Path,
        port: int,
        settings: dict[str, str],
        java_options: Sequence[str] = (),
    ) -> None:
        self.node_id = node_id
        self.version = version
        self.port = port
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self._java_options = (*JVM_FLAGS, *chosen(java_options, class_archive(version)))
        folder.mkdir(parents=True)
        self._config = folder / "server.properties"
        self._config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self._output = folder / "server.log"

    def format(self) -> None:
        """Write the node's storage once, before its first start."""
        arguments = ("format", "-t", CLUSTER_ID, "-c", str(self._config))
        run_java(self.version, "kafka.tools.StorageTool", *arguments)

    def spawn(self) -> None:
        """Start the process. `wait_ready` returns once it serves."""
        command = [
            *_java(self.version),
            *self._java_options,
            "kafka.Kafka",
            str(self._config),
        ]
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(  # noqa: S603 - our own command line
                command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
            )

    def wait_ready(self, brokers: int, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Return when the node answers and knows all `brokers` of its cluster.

        Raises: KafkaConnectionError with the end of its log, if it ends or does not answer.
        """
        assert self.process is not None
        deadline = SYSTEM_CLOCK.monotonic() + timeout_s
        while known_brokers("127.0.0.1", self.port) < brokers:
            try:
                self.process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                if SYSTEM_CLOCK.monotonic() < deadline:
                    continue
            raise KafkaConnectionError(
                f"Apache Kafka {self.version} node {self.node_id} was not ready within "
                f"{timeout_s:.0f} s (exit code {self.process.returncode}); its log ends with:\n"
                f"{self.output()[-3000:]}"
            )

    def output(self) -> str:
        """Everything the node has printed since its last start."""
        return self._output.read_text(errors="replace") if self._output.exists() else ""

    def kill(self) -> None:
        """Send SIGKILL, like a loss of power. `spawn` starts it again on the same disk."""
        self._end(signal.SIGKILL)

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Send SIGTERM and wait; send SIGKILL if it has not ended in time."""
        self._end(signal.SIGTERM, timeout_s)

    def _end(self, signum: signal.Signals, timeout_s: float = STOP_TIMEOUT_S) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signum)
            try:
                self.process.wait(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None


class ApacheKafka:
    """A cluster of one or three real Kafka nodes: `with ApacheKafka() as kafka:
    kafka.bootstrap_servers`.

    `version` is any release in Maven ("4.4.0" by default; "4.3.1" and "3.9.2" are tested, too).
    `properties` are further lines of server.properties. `racks` names each node's rack.
    `java_options` are further options of each node's Java.

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
    ) -> None:
        if nodes not in {1, 3}:
            raise ValueError(f"nodes={nodes} is not supported: a cluster here has one or three")
        if racks is not None and len(racks) != nodes:
            raise ValueError(f"{len(racks)} racks do not fit {nodes} nodes; name one for each")
        self.version = version
        self.nodes: list[KafkaNode] = []
        self._count = nodes
        self._properties = properties or {}
        self._racks = racks
        self._java_options = java_options
        self._held = ExitStack()
        self._finalizer: weakref.finalize[Any, Any] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`127.0.0.1:PORT` of every node, separated by commas."""
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def start(self) -> Self:
        """Start every node and return when all serve. A failed start leaves nothing behind."""
        find_java()
        kafka_jars(self.version)
        folder = Path(tempfile.mkdtemp(prefix="aiokafka-lite-kafka-"))
        self._finalizer = weakref.finalize(self, _kill_left, self.nodes, folder, self._held)
        try:
            self._make_nodes(folder)
            for node in self.nodes:
                node.format()
            for node in self.nodes:
                node.spawn()
            for node in self.nodes:
                node.wait_ready(self._count)
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
        if self._finalizer is not None:
            self._finalizer()
            self._finalizer = None
        self.nodes.clear()

    def run_tool(
        self, main_class: str, *arguments: str, stdin: bytes = b"", timeout_s: float = 180
    ) -> str:
        """Run one of Kafka's own command-line classes on this cluster and return its output.

        The classes are those of `tools_version`. `--bootstrap-server` is added. Example:
        "org.apache.kafka.tools.consumer.ConsoleConsumer".
        """
        server = ("--bootstrap-server", self.bootstrap_servers)
        tools = tools_version(self.version)
        return run_java(tools, main_class, *server, *arguments, stdin=stdin, timeout_s=timeout_s)

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

    def _make_nodes(self, folder: Path) -> None:
        ports = self._ports(2 * self._count)
        client_ports, controller_ports = ports[: self._count], ports[self._count :]
        voters = ",".join(f"{i}@127.0.0.1:{port}" for i, port in enumerate(controller_ports, 1))
        for index, port in enumerate(client_ports, 1):
            place = folder / f"node-{index}"
            settings = {
                "node.id": str(index),
                "controller.quorum.voters": voters,
                "listeners": f"PLAINTEXT://127.0.0.1:{port},"
                f"CONTROLLER://127.0.0.1:{controller_ports[index - 1]}",
                "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
                "log.dirs": str(place / "data"),
                **server_properties(self._count),
                **({"broker.rack": self._racks[index - 1]} if self._racks else {}),
                **self._properties,
            }
            self.nodes.append(
                KafkaNode(index, self.version, place, port, settings, self._java_options)
            )


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


def run_java(
    version: str, main_class: str, *arguments: str, stdin: bytes = b"", timeout_s: float = 180
) -> str:
    """Run one class of Kafka's jars to its end and return its output on stdout.

    Raises: KafkaConnectionError with both outputs if its exit code is not 0.
    """
    done = subprocess.run(  # noqa: S603 - our own command line
        [*_java(version), *TOOL_FLAGS, *reading(class_archive(version)), main_class, *arguments],
        input=stdin,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    output = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        complaint = done.stderr.decode(errors="replace")[-2000:]
        raise KafkaConnectionError(
            f"{main_class} ended with exit code {done.returncode}: {output[-2000:]} {complaint}"
        )
    return output


def _java(version: str) -> tuple[str, str, str]:
    return (str(find_java()), "-cp", f"{kafka_jars(version)}/*")


def _kill_left(nodes: list[KafkaNode], folder: Path, held: ExitStack) -> None:
    """Kill the nodes that still run.

    This runs when the cluster stops or is garbage-collected, or the interpreter ends.
    """
    for node in nodes:
        node.kill()
    held.close()
    shutil.rmtree(folder, ignore_errors=True)


__all__ = ["ApacheKafka", "ExternalKafka", "KafkaNode", "archive_classes", "real_kafka", "run_java"]
