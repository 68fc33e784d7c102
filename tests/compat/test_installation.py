"""`install()` puts the package under the name `aiokafka`, in a process of its own."""

import subprocess
import sys

import pytest

from aiokafka_lite.compat.inside_table import module_paths


def run(program: str) -> str:
    """Run a program in an interpreter in which nothing of either package was imported."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_imports_and_attributes_lead_to_this_package() -> None:
    run(f"""
import sys
from aiokafka_lite.compat import install
install(); install()
import aiokafka
assert "aiokafka_lite.consumer.consumer" not in sys.modules  # nothing before it is used
import aiokafka_lite
from aiokafka.structs import TopicPartition
assert TopicPartition is aiokafka_lite.TopicPartition
assert aiokafka.errors.KafkaError is aiokafka_lite.errors.KafkaError
assert issubclass(aiokafka.producer.AIOKafkaProducer, aiokafka_lite.AIOKafkaProducer)
assert aiokafka.__version__ == "0.14.0"
from importlib import import_module
for path in {sorted(module_paths())!r}:
    module = import_module(f"aiokafka.{{path}}".rstrip("."))
    assert module is sys.modules[module.__name__]
    if path:
        parent = import_module(module.__name__.rpartition(".")[0])
        assert getattr(parent, module.__name__.rpartition(".")[2]) is module, module
        assert module.__name__.rpartition(".")[2] in dir(parent)
from aiokafka.structs import *
assert ConsumerRecord is aiokafka_lite.ConsumerRecord
assert not hasattr(aiokafka.structs, "no_such_name")
from aiokafka.admin.client import AIOKafkaAdminClient, NewTopic
from aiokafka.consumer.subscription_state import ConsumerRebalanceListener
assert ConsumerRebalanceListener is aiokafka_lite.ConsumerRebalanceListener
from aiokafka.protocol.metadata import MetadataRequest, MetadataRequest_v1
from aiokafka.cluster import log, time, Errors, collections
assert Errors is aiokafka.errors and log.name == "aiokafka.cluster"
from aiokafka.protocol.metadata import *
assert issubclass(MetadataRequest, aiokafka.protocol.api.Request)
try:
    import aiokafka.no_such_module
except ModuleNotFoundError as error:
    assert error.name == "aiokafka.no_such_module", error
    assert "aiokafka 0.14.0" in str(error)
else:
    raise AssertionError("found")
""")


def test_the_distribution_has_the_version_whose_names_these_are() -> None:
    run("""
from aiokafka_lite.compat import install
install()
from importlib import metadata
assert metadata.version("aiokafka") == "0.14.0"
assert "aiokafka-lite" in metadata.metadata("aiokafka")["Summary"]
assert "aiokafka" in metadata.packages_distributions()["aiokafka"]
assert metadata.version("aiokafka-lite") != "0.14.0"
assert metadata.distribution("aiokafka").locate_file("compat").is_dir()
""")


def test_a_patch_of_an_alias_stays_there() -> None:
    run("""
from aiokafka_lite.compat import install
install()
import aiokafka, aiokafka_lite.consumer
from unittest import mock
with mock.patch("aiokafka.consumer.AIOKafkaConsumer") as fake:
    assert aiokafka.consumer.AIOKafkaConsumer is fake
    assert aiokafka_lite.consumer.AIOKafkaConsumer is not fake
assert issubclass(aiokafka.consumer.AIOKafkaConsumer, aiokafka_lite.consumer.AIOKafkaConsumer)
""")


def test_it_refuses_to_replace_an_aiokafka_in_use() -> None:
    """Two kinds of TopicPartition and of errors in one program would not find each other."""
    pytest.importorskip("aiokafka")
    run("""
import aiokafka
from aiokafka_lite.compat import install
from aiokafka_lite.errors import IllegalStateError
try:
    install()
except IllegalStateError as error:
    assert "was imported before, from" in str(error) and "-m aiokafka_lite.compat" in str(error)
    assert aiokafka.__file__ in str(error)
else:
    raise AssertionError("installed")
""")
