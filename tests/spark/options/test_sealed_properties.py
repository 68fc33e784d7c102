"""Java's security properties reach executors, and their values cannot be read on the way."""

import json
import pickle

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.secret import Secret
from aiokafka_lite.spark.options.sealed_properties import (
    SECURITY,
    SealedOptions,
    SealedProperties,
    client_arguments,
)

PASSWORD = "hunter2-hunter2"


def sealed(password: str = PASSWORD) -> SealedProperties:
    return SealedProperties({"ssl.key.password": Secret(password)})


@given(st.dictionaries(st.text(), st.text()))
def test_pickled_properties_come_back(values: dict[str, str]) -> None:
    properties = SealedProperties({name: Secret(value) for name, value in values.items()})
    assert pickle.loads(pickle.dumps(properties)) == properties


def test_no_value_stands_in_a_pickle_or_a_text() -> None:
    assert PASSWORD.encode() not in pickle.dumps(sealed())
    assert PASSWORD not in repr(sealed())
    assert "ssl.key.password" in repr(sealed())
    assert PASSWORD not in json.dumps({SECURITY: sealed()}, default=repr)


def test_two_pickles_of_one_value_differ() -> None:
    assert pickle.dumps(sealed()) != pickle.dumps(sealed())


def test_a_fingerprint_tells_values_apart() -> None:
    assert sealed().fingerprint == sealed().fingerprint
    assert sealed().fingerprint != sealed("another").fingerprint
    assert sealed() != sealed("another")
    assert hash(sealed()) == hash(sealed())


def test_arguments_have_options_in_place_of_properties() -> None:
    properties = SealedProperties({"security.protocol": Secret("ssl")})
    arguments = {"client_id": "a", SECURITY: properties}
    assert client_arguments(arguments) == {"client_id": "a", "security_protocol": "SSL"}
    assert client_arguments({"client_id": "a"}) == {"client_id": "a"}


def test_a_token_stands_in_place_of_everything_about_the_user() -> None:
    jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    user = {
        "security.protocol": "SASL_SSL",
        "ssl.truststore.certificates": "-----BEGIN CERTIFICATE-----",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{jaas} username="alice" password="{PASSWORD}";',
        "ssl.keystore.key": PASSWORD,
        "ssl.keystore.certificate.chain": PASSWORD,
    }
    properties = SealedProperties({name: Secret(value) for name, value in user.items()})
    found = properties.for_token(
        'id"with\\signs', Secret("aG1hYw=="), "SCRAM-SHA-256"
    ).client_options()
    assert found == {
        "security_protocol": "SASL_SSL",
        "ssl_cadata": "-----BEGIN CERTIFICATE-----",
        "sasl_mechanism": "SCRAM-SHA-256",
        "sasl_plain_username": 'id"with\\signs',
        "sasl_plain_password": Secret("aG1hYw=="),
        "sasl_scram_tokenauth": True,
    }


def test_the_options_of_a_query_are_pickled_and_shown_without_their_values() -> None:
    options = SealedOptions({"kafka.sasl.jaas.config": PASSWORD})
    assert PASSWORD.encode() not in pickle.dumps(options)
    assert pickle.loads(pickle.dumps(options)) == {"kafka.sasl.jaas.config": PASSWORD}
    assert repr(options) == "SealedOptions(kafka.sasl.jaas.config)"
