"""The type of the options that all clients have lists those of the constructor."""

import inspect

from aiokafka_lite import AIOKafkaClient
from aiokafka_lite.cluster.client_options import ClientOptions


def test_the_type_has_the_options_of_the_constructor() -> None:
    taken = set(inspect.signature(AIOKafkaClient).parameters)
    assert taken - {"loop", "api_version", "clock", "rng"} == set(ClientOptions.__annotations__)
