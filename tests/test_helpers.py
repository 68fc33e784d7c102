"""`create_ssl_context` makes what the options of a client make, under aiokafka's signature."""

import inspect
import ssl
from pathlib import Path

import aiokafka.helpers
import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.helpers import create_ssl_context
from tests.support.certificates import PASSWORD, Authority


def test_the_arguments_are_those_of_aiokafka() -> None:
    theirs = inspect.signature(aiokafka.helpers.create_ssl_context).parameters
    ours = inspect.signature(create_ssl_context).parameters
    assert {each.name: each.kind for each in ours.values()} == {
        each.name: each.kind for each in theirs.values()
    }


def test_a_context_trusts_the_authority_and_shows_the_certificate(tmp_path: Path) -> None:
    authority = Authority()
    client = authority.issue("client@example.org")
    (tmp_path / "key.pem").write_text(client.encrypted_key_pem)
    context = create_ssl_context(
        cafile=authority.write(tmp_path / "ca.pem"),
        certfile=client.certificate_pem,
        keyfile=tmp_path / "key.pem",
        password=PASSWORD,
    )
    assert len(context.get_ca_certs()) == 1
    assert context.check_hostname
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_mistake_names_the_argument() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"^KafkaConfigurationError: cafile='/no'"):
        create_ssl_context(cafile="/no")
    client = Authority().issue("client@example.org")
    with pytest.raises(KafkaConfigurationError, match="holds no private key in PEM; set keyfile"):
        create_ssl_context(certfile=client.certificate_pem)
