"""No client takes an object that means nothing as the value of an option."""

import inspect
import warnings
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
)
from aiokafka_lite.errors import KafkaConfigurationError

TESTS = {"clock", "rng", "observer"}
"""Given by tests and by tools, whose types are checked."""
NO_EFFECT = {"loop", "api_version", "consumer_timeout_ms"}
"""aiokafka's, which are ignored."""
WITH_SASL = {
    "sasl_mechanism",
    "sasl_kerberos_service_name",
    "sasl_kerberos_domain_name",
    "sasl_kerberos_principal",
}
"""Looked at with a `security_protocol` that has SASL, because aiokafka's programs always set them.
"""


def options(client: Any) -> list[str]:
    given = inspect.signature(client).parameters.values()
    names = [each.name for each in given if each.kind is each.KEYWORD_ONLY]
    return sorted({*names} - TESTS - NO_EFFECT - WITH_SASL)


CASES = [
    (client, name)
    for client in (
        AIOKafkaAdminClient,
        AIOKafkaClient,
        AIOKafkaConsumer,
        AIOKafkaProducer,
        AIOKafkaShareConsumer,
    )
    for name in options(client)
]


@pytest.mark.parametrize(("client", "name"), CASES)
def test_an_object_of_no_type_is_refused_by_the_name_of_the_option(client: Any, name: str) -> None:
    assert len(CASES) > 200
    given: dict[str, Any] = {"group_id": "g"} if "group_id" in options(client) else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of options that go together
        with pytest.raises(KafkaConfigurationError, match=name):
            client(**given | {name: object()})
