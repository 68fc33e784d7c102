"""Starts a Docker engine for a test, where the machine has one and lets it run.

Debian's package is docker.io. The driver vfs needs no support of the kernel. All files and the
socket are in a folder of the test, so an engine of the machine is not touched.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker

READY_TIMEOUT_S = 60.0


class NoDockerEngineError(Exception):
    """The machine has no `dockerd`, or it does not start."""


@contextmanager
def docker_engine(folder: Path) -> Iterator[docker.DockerClient]:
    """Run `dockerd` during a with block, and yield its client.

    Raises: NoDockerEngineError with what is missing, or with the end of its log.
    """
    program = shutil.which("dockerd")
    if program is None or os.geteuid() != 0:
        raise NoDockerEngineError("it needs root and dockerd: `apt-get install docker.io`")
    address = f"unix://{folder}/docker.sock"
    command = [
        program,
        *("--storage-driver", "vfs", "--iptables=false", "--ip6tables=false"),
        *("--data-root", str(folder / "data"), "--exec-root", str(folder / "exec")),
        *("--pidfile", str(folder / "docker.pid"), "--host", address),
    ]
    log = folder / "dockerd.log"
    with log.open("wb") as output:
        engine = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        client = _ready(engine, address, log)
        try:
            yield client
        finally:
            client.close()
    finally:
        engine.terminate()
        try:
            engine.wait(READY_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            engine.kill()
            engine.wait()


def _ready(engine: "subprocess.Popen[bytes]", address: str, log: Path) -> docker.DockerClient:
    for _ in range(int(READY_TIMEOUT_S / 0.5)):
        try:
            return docker.DockerClient(base_url=address, version="auto", timeout=600)
        except docker.errors.DockerException:
            try:
                engine.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
            break
    raise NoDockerEngineError(f"dockerd does not start: {log.read_text()[-2000:]}")


__all__ = ["NoDockerEngineError", "docker_engine"]
