"""One node of a real Kafka as a child process, and Kafka's own programs, run to their end.

Owns the process. Blocks, because a node needs seconds.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing.broker_probe import known_brokers
from aiokafka_lite.testing.class_archive import chosen, class_archive, reading
from aiokafka_lite.testing.java_runtime import find_java, kafka_jars, zookeeper_jars
from aiokafka_lite.testing.secure_listeners import PLAINTEXT
from aiokafka_lite.testing.zookeeper import needs_zookeeper

READY_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 15.0
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
JVM_FLAGS = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
TOOL_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class KafkaNode:
    """One node as a child process; stopped by its own pid. With KRaft it is a controller, too."""

    def __init__(
        self,
        node_id: int,
        version: str,
        folder: Path,
        ports: Mapping[str, int],
        settings: dict[str, str],
        java_options: Sequence[str] = (),
    ) -> None:
        self.node_id = node_id
        self.version = version
        self.ports = ports
        """The port of each listener by its name."""
        self.port = ports[PLAINTEXT]
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self._java_options = (*JVM_FLAGS, *chosen(java_options, class_archive(version)))
        folder.mkdir(parents=True)
        self._config = folder / "server.properties"
        self._config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self._output = folder / "server.log"

    def format(self, *more: str) -> None:
        """Write the node's storage once, before its first start. `more` are further arguments."""
        arguments = ("format", "-t", CLUSTER_ID, "-c", str(self._config), *more)
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


def run_java(
    version: str,
    main_class: str,
    *arguments: str,
    stdin: bytes = b"",
    timeout_s: float = 180,
    java_options: Sequence[str] = (),
) -> str:
    """Run one class of Kafka's jars to its end and return its output on stdout.

    Raises: KafkaConnectionError with both outputs if its exit code is not 0.
    """
    options = [*TOOL_FLAGS, *reading(class_archive(version)), *java_options]
    done = subprocess.run(  # noqa: S603 - our own command line
        [*_java(version), *options, main_class, *arguments],
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
    path = f"{kafka_jars(version)}/*"
    if needs_zookeeper(version):
        path = f"{zookeeper_jars()}/*{os.pathsep}{path}"
    return (str(find_java()), "-cp", path)


__all__ = ["KafkaNode", "run_java"]
