"""The type of the options that an admin client takes."""

import inspect

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin.admin_options import AdminOptions


def test_the_type_has_every_option_of_the_constructor() -> None:
    taken = set(inspect.signature(AIOKafkaAdminClient).parameters)
    assert taken - {"loop", "api_version", "clock", "rng", "client"} == set(
        AdminOptions.__annotations__
    )
