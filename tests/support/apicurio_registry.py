"""Starts a real schema registry for a test: Apicurio Registry, in memory, on 127.0.0.1.

It serves Confluent's REST interface. Maven downloads it once (140 MB) into the folder of Kafka's
jars. It needs Java 17. No package index has a real registry that pip could install.
"""

import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import filelock
import httpx
import pytest

from aiokafka_lite.testing.free_ports import server_ports
from aiokafka_lite.testing.java_runtime import JavaNotFoundError, cache_folder, find_java

VERSION = "2.6.13.Final"
ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
PROGRAM = f"apicurio-registry-app-{VERSION}-runner.jar"
DOWNLOAD_TIMEOUT_S = 600
START_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 30.0


@contextmanager
def apicurio_registry(folder: Path) -> Iterator[str]:
    """Run a registry during a with block, and yield the address of its REST interface.

    `folder`: where it writes its log. Without Java or Maven the test is skipped. Raises:
    RuntimeError with the end of the log if it does not start.
    """
    try:
        java, program = find_java(), _program()
    except JavaNotFoundError as error:
        pytest.skip(str(error))
    with ExitStack() as stack:
        (port,) = server_ports(1, stack)
        settings = {"quarkus.http.host": "127.0.0.1", "quarkus.http.port": port}
        command = [
            *(str(java), "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            *(f"-D{name}={value}" for name, value in settings.items()),
            *("-jar", str(program)),
        ]
        log = folder / "apicurio.log"
        with log.open("wb") as output:
            running = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        stack.callback(_end, running)
        url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
        _await_answer(url, running, log)
        yield url


def _program() -> Path:
    root = cache_folder()
    folder = root / f"apicurio-registry-{VERSION}"
    root.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(root / f"{folder.name}.lock", timeout=DOWNLOAD_TIMEOUT_S):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=root) as work:
                _download(Path(work))
                (Path(work) / "program").rename(folder)
    return folder / PROGRAM


def _download(work: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise JavaNotFoundError("a real schema registry is downloaded by Maven (`mvn`): install it")
    done = subprocess.run(
        [
            *(maven, "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}"),
            f"-DoutputDirectory={work}",
        ],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=DOWNLOAD_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise JavaNotFoundError(f"{ARTIFACT}: {(done.stdout + done.stderr)[-2000:]}")
    (archive,) = work.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(work / "program", filter="data")


def _await_answer(url: str, running: "subprocess.Popen[bytes]", log: Path) -> None:
    until_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < until_s and running.poll() is None:
        try:
            if httpx.get(f"{url}/subjects").status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        try:
            running.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
    raise RuntimeError(f"the registry does not answer: {log.read_text()[-2000:]}")


def _end(running: "subprocess.Popen[bytes]") -> None:
    running.terminate()
    try:
        running.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()


__all__ = ["apicurio_registry"]
