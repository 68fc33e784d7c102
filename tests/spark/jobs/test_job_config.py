"""TOML and settings become a frozen config, and everything wrong with them is said at once."""

from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job_config import JobConfig, JobConfigError, read_file, read_toml


@dataclass(frozen=True, kw_only=True)
class ExampleConfig(JobConfig):
    name: str = "x"
    count: int = 1
    share: float = 0.5
    is_on: bool = False
    topics: tuple[str, ...] = ()
    limit: int | None = None
    kind: Literal["a", "b"] = "a"
    names: Mapping[str, str] = field(default_factory=dict)

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.count < 1:
            yield f"count={self.count} must be at least 1"


def test_keys_come_with_their_types() -> None:
    made = ExampleConfig.from_toml(
        """
        name = "n"
        count = 3
        share = 1
        is_on = true
        topics = ["a", "b"]
        limit = 5
        kind = "b"
        """
    )
    assert made == ExampleConfig(
        name="n", count=3, share=1.0, is_on=True, topics=("a", "b"), limit=5, kind="b"
    )
    assert isinstance(made.share, float)
    with pytest.raises(FrozenInstanceError):
        made.count = 4  # type: ignore[misc]


def test_options_may_be_dotted_quoted_or_nested_and_become_text() -> None:
    made = ExampleConfig.from_toml(
        """
        [source]
        kafka.isolation.level = "read_committed"
        "kafka.check.crcs" = false
        minPartitions = 4
        startingOffsets = {t = {0 = 5, 1 = -2}}
        [source.kafka.fetch]
        min.bytes = 1
        """
    )
    assert made.source == {
        "kafka.isolation.level": "read_committed",
        "kafka.fetch.min.bytes": "1",
        "kafka.check.crcs": "false",
        "minPartitions": "4",
        "startingOffsets": '{"t":{"0":5,"1":-2}}',
    }
    assert ExampleConfig(source={"kafka": {"acks": "all"}}).source == {"kafka.acks": "all"}  # type: ignore[dict-item]


def test_settings_win_and_are_toml_or_text() -> None:
    text = 'count = 1\n[sink]\n"kafka.acks" = "1"\ntopic = "a"'
    settings = [
        *("count=7", "topics=a, b", "name=2024", "sink.kafka.acks=all"),
        *("is_on = true", 'names.k = "v=w"', "kind=b", "limit=5"),
    ]
    made = ExampleConfig.from_toml(text, settings)
    assert made == ExampleConfig(
        count=7,
        topics=("a", "b"),
        name="2024",
        is_on=True,
        kind="b",
        limit=5,
        names={"k": "v=w"},
        sink={"kafka.acks": "all", "topic": "a"},
    )


def test_a_setting_for_a_table_of_the_jobs_own_is_put_into_it() -> None:
    made = ExampleConfig.from_toml('[names]\na = "1"\nb = "2"', ["names.a=3"])
    assert made.names == {"a": "3", "b": "2"}


def test_every_fault_is_in_one_error() -> None:
    with pytest.raises(JobConfigError) as caught:
        ExampleConfig.from_toml(
            'nam = "x"\ncount = 0\nshare = "a"\nkind = "c"\ntopics = 3\nspark = 1\nlimit = true'
        )
    said = str(caught.value)
    assert len(caught.value.faults) == 7
    for fault in (
        *("has 7 faults", "nam is not known to this job; did you mean name"),
        *("share='a' is not a number", "kind='c' is not one of 'a', 'b'", "topics=3 is not a list"),
        *(
            "spark is not a table",
            "limit=True is not a whole number",
            "count=0 must be at least 1",
        ),
    ):
        assert fault in said
    assert isinstance(caught.value, KafkaConfigurationError)
    assert isinstance(caught.value, ValueError)


def test_programs_are_told_the_same() -> None:
    with pytest.raises(JobConfigError, match="count='3' is not a whole number"):
        ExampleConfig(count="3")  # type: ignore[arg-type]
    with pytest.raises(JobConfigError, match="source has a list for subscribe"):
        ExampleConfig(source={"subscribe": ["a"]})  # type: ignore[dict-item]


def test_what_cannot_be_read_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(JobConfigError, match=r"not TOML: .*line 2"):
        read_toml("a = 1\nb = ]")
    with pytest.raises(JobConfigError) as caught:
        read_toml("", ["count", "a b=1"])
    assert "--set 'count' is not of the form key=value" in str(caught.value)
    assert "'a b' is not a TOML key" in str(caught.value)
    with pytest.raises(JobConfigError, match=r"--config .*missing\.toml: .*No such file"):
        read_file(tmp_path / "missing.toml")
    (tmp_path / "job.toml").write_text("count = 2")
    assert read_file(tmp_path / "job.toml", ["name=y"]) == {"count": 2, "name": "y"}
    assert read_file(None, ["name=y"]) == {"name": "y"}


def test_a_password_in_a_table_is_not_shown() -> None:
    given = {"kafka.sasl.jaas.config": "hunter2"}
    assert "hunter2" not in repr(ExampleConfig(source=given, sink=given, spark=given))
    with pytest.raises(JobConfigError, match="source has a list for a") as raised:
        ExampleConfig(source={**given, "a": ["b"]})  # type: ignore[dict-item]
    assert "hunter2" not in str(raised.value)
    with pytest.raises(JobConfigError, match="source is not a table") as raised:
        ExampleConfig(source="sasl.jaas.config=hunter2")  # type: ignore[arg-type]
    assert "hunter2" not in str(raised.value)
    for setting, said in (("a b=hunter2", "'a b' is not a TOML key"), ("a:hunter2", "--set 'a'")):
        with pytest.raises(JobConfigError, match=said) as raised:
            ExampleConfig.from_toml("", [setting])
        assert "hunter2" not in str(raised.value)
