"""What programs import from a documented module of aiokafka, they find at the same path here."""

import importlib
import subprocess
import sys

import pytest

import aiokafka_lite.structs

# Module below the package -> the names that are documented, or that programs import from there.
ADDRESSES = {
    "": (
        "AIOKafkaClient AIOKafkaConsumer AIOKafkaProducer ConsumerRebalanceListener"
        " ConsumerStoppedError IllegalOperation"
        " ConsumerRecord TopicPartition OffsetAndTimestamp OffsetAndMetadata"
    ),
    "abc": "AbstractTokenProvider ConsumerRebalanceListener",
    "admin": "AIOKafkaAdminClient NewPartitions NewTopic RecordsToDelete",
    "admin.config_resource": "ConfigResource ConfigResourceType",
    "client": "AIOKafkaClient ConnectionGroup CoordinationType",
    "cluster": "ClusterMetadata",
    "consumer": "AIOKafkaConsumer",
    "consumer.consumer": "AIOKafkaConsumer",
    "coordinator.assignors.abstract": "AbstractPartitionAssignor",
    "coordinator.assignors.range": "RangePartitionAssignor",
    "coordinator.assignors.roundrobin": "RoundRobinPartitionAssignor",
    "coordinator.assignors.sticky.sticky_assignor": "StickyPartitionAssignor",
    "coordinator.protocol": (
        "ConsumerProtocol ConsumerProtocolMemberMetadata ConsumerProtocolMemberAssignment"
    ),
    "errors": "",
    "helpers": "create_ssl_context",
    "partitioner": "DefaultPartitioner murmur2",
    "producer": "AIOKafkaProducer",
    "producer.producer": "AIOKafkaProducer",
    "structs": (
        "TopicPartition OffsetAndMetadata OffsetAndTimestamp RecordMetadata ConsumerRecord"
        " BrokerMetadata PartitionMetadata KT VT"
    ),
}


def module(package: str, path: str) -> object:
    return importlib.import_module(f"{package}.{path}" if path else package)


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_replaced_import_finds_the_names(path: str) -> None:
    theirs, ours = module("aiokafka", path), module("aiokafka_lite", path)
    names = {*ADDRESSES[path].split(), *getattr(theirs, "__all__", ())}
    assert names
    for name in names:
        assert hasattr(theirs, name), f"aiokafka has no {name} there"
        assert hasattr(ours, name), name


def test_the_values_are_those_of_the_package() -> None:
    """One class for one thing, whichever import finds it."""
    for name in set(aiokafka_lite.structs.__all__) & set(aiokafka_lite.__all__):
        assert getattr(aiokafka_lite.structs, name) is getattr(aiokafka_lite, name)


@pytest.mark.parametrize("package", ["cluster", "consumer", "producer"])
def test_a_package_offers_its_name_when_it_is_first_used(package: str) -> None:
    """So nothing else that imports from the package pays for the client."""
    program = (
        f"import sys, aiokafka_lite.{package} as package\n"
        f"assert 'aiokafka_lite.{package}.{package}' not in sys.modules\n"
        "assert not hasattr(package, 'no_such_name')\n"
        "print(*(getattr(package, name).__name__ for name in package.__all__))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()
