"""Names of aiokafka's inside that programs import."""

import aiokafka.producer.producer
import aiokafka.util

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.compat import inner_names


async def test_they_do_what_aiokafkas_do() -> None:
    assert set(inner_names.__all__) <= set(vars(aiokafka.util))
    assert inner_names.INTEGER_MAX_VALUE == aiokafka.util.INTEGER_MAX_VALUE
    assert inner_names.INTEGER_MIN_VALUE == aiokafka.util.INTEGER_MIN_VALUE
    future = inner_names.create_future()
    assert future.get_loop() is inner_names.get_running_loop()
    future.cancel()

    async def answer() -> int:
        return 42

    assert await inner_names.create_task(answer()) == 42


def test_the_default_of_acks_may_be_passed_on() -> None:
    assert hasattr(aiokafka.producer.producer, "_missing")
    AIOKafkaProducer(acks=inner_names._missing)
