"""Names of aiokafka's inside that libraries read."""

import aiokafka.producer.producer

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.compat import inner_names


def test_the_default_of_acks_may_be_passed_on() -> None:
    assert hasattr(aiokafka.producer.producer, "_missing")
    AIOKafkaProducer(acks=inner_names._missing)
