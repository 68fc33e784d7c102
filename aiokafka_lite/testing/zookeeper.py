"""The ZooKeeper that Apache Kafka before 3.3 needs, as a process on 127.0.0.1.

Owns the process. Blocks, because a Java process needs a second. It is ZooKeeper 3.5.10 for all
releases: the 3.4 of Kafka 2.1 to 2.3 cannot resolve an address on Java 17. Its jars come before
Kafka's own on the class path, so brokers use the same release as its client.
"""

import socket
import subprocess
from pathlib import Path
from typing import Final

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing.java_runtime import find_java, release_of, zookeeper_jars

READY_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 15.0
TICK_MS: Final = 1_000
"""A session lives for two ticks or more. A node that was killed may come back when its session is
over; until then its name is taken.
"""
FIRST_WITH_KRAFT: Final = (3, 3)
"""The first release whose KRaft is ready for production (KIP-833)."""


def needs_zookeeper(version: str) -> bool:
    """Return whether the tests run that release of Kafka with ZooKeeper."""
    return release_of(version) < FIRST_WITH_KRAFT


class ZooKeeper:
    """One ZooKeeper without peers; stopped by its own pid."""

    def __init__(self, folder: Path, port: int) -> None:
        self.port = port
        self.process: subprocess.Popen[bytes] | None = None
        self._folder = folder
        self._output = folder / "zookeeper.log"
        folder.mkdir(parents=True)

    def start(self) -> None:
        """Start it, and return when it accepts connections.

        Raises: KafkaConnectionError with the end of its log, if it ends or accepts none.
        """
        config = self._folder / "zoo.cfg"
        config.write_text(
            f"dataDir={self._folder / 'data'}\nclientPort={self.port}\n"
            "clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n"
            f"tickTime={TICK_MS}\n"
        )
        command = [str(find_java()), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", f"{zookeeper_jars()}/*"]
        command += ["org.apache.zookeeper.server.quorum.QuorumPeerMain", str(config)]
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(  # noqa: S603 - our own command line
                command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
            )
        deadline = SYSTEM_CLOCK.monotonic() + READY_TIMEOUT_S
        while not self._accepts():
            try:
                self.process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                if SYSTEM_CLOCK.monotonic() < deadline:
                    continue
            raise KafkaConnectionError(
                f"ZooKeeper was not ready within {READY_TIMEOUT_S:.0f} s (exit code"
                f" {self.process.returncode}); its log ends with:\n"
                f"{self._output.read_text(errors='replace')[-3000:]}"
            )

    def stop(self) -> None:
        """Send SIGTERM and wait; send SIGKILL if it has not ended in time. Idempotent."""
        process, self.process = self.process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """Send SIGKILL: nothing of it is kept. Idempotent."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()

    def _accepts(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


__all__ = ["ZooKeeper", "needs_zookeeper"]
