"""What `importlib.metadata` is told of the distribution `aiokafka`."""

from importlib.metadata import version

from aiokafka_lite.compat.distribution import AiokafkaDistribution


def test_it_has_the_version_of_the_aiokafka_that_the_tests_compare_with() -> None:
    made = AiokafkaDistribution()
    assert (made.metadata["Name"], made.version) == ("aiokafka", version("aiokafka"))
    assert "aiokafka-lite" in made.metadata["Summary"]


def test_a_file_that_it_does_not_have_is_none() -> None:
    assert AiokafkaDistribution().read_text("RECORD") is None
