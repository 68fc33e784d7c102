"""Where Java keeps the classes of a broker, and what happens when it cannot."""

from pathlib import Path

import pytest

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka, archive_classes
from aiokafka_lite.testing.class_archive import chosen, class_archive, keep, reading, writing
from tests.conftest import require_kafka


def _java(home: Path, text: str) -> None:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    java.write_text(text)


def test_each_release_and_each_java_has_an_archive_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    _java(tmp_path, "one")
    first = class_archive("4.3.1")
    assert class_archive("4.3.1") == first
    assert class_archive("3.9.2") != first
    _java(tmp_path, "another")
    assert class_archive("4.3.1") != first


def test_it_is_read_only_once_it_is_there(tmp_path: Path) -> None:
    archive = tmp_path / "a.jsa"
    assert reading(archive) == ()
    archive.touch()
    assert f"-XX:SharedArchiveFile={archive}" in reading(archive)


def test_it_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    part, archive = tmp_path / "part", tmp_path / "cache" / "a.jsa"
    archive.parent.mkdir()
    with pytest.raises(FileNotFoundError):
        keep(part, archive)
    assert list(archive.parent.iterdir()) == []
    part.write_bytes(b"classes")
    keep(part, archive)
    assert [(path.name, path.read_bytes()) for path in archive.parent.iterdir()] == [
        ("a.jsa", b"classes")
    ]


def test_options_that_name_an_archive_keep_the_default_away(tmp_path: Path) -> None:
    """Java refuses to write an archive while it reads one."""
    archive = tmp_path / "a.jsa"
    archive.touch()
    assert chosen(["-Da=b"], archive) == (*reading(archive), "-Da=b")
    for options in (writing(tmp_path / "part"), reading(archive)):
        assert chosen(options, archive) == options


@pytest.mark.real_kafka
def test_a_node_writes_its_classes_when_it_ends_and_another_reads_them(tmp_path: Path) -> None:
    require_kafka(DEFAULT_VERSION)
    part = tmp_path / "classes.jsa"
    with ApacheKafka(java_options=writing(part)) as kafka:
        kafka.nodes[0].stop(60)
    assert part.stat().st_size > 1_000_000
    with ApacheKafka(java_options=[*reading(part), "-Xshare:on"]) as kafka:
        assert kafka.nodes  # with such an option Java refuses to run without the archive


def test_it_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _java(tmp_path, "no Java at all")
    archive = class_archive("4.3.1")
    archive.parent.mkdir()
    archive.touch()
    archive_classes("4.3.1")  # would fail if it started anything
    assert archive.stat().st_size == 0
