"""One secured Kafka per release for the session, and one embedded broker for each way."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.secure_listeners import MUTUAL_TLS
from tests.conftest import KAFKA_VERSIONS, VERSION_BETWEEN, require_kafka
from tests.support.secured_kafka import (
    PASSWORD,
    USER,
    SecuredKafka,
    Way,
    missing_kerberos,
    sasl_options,
    secured_kafka,
)
from tests.support.token_issuer import unsecured_token

IN_EACH_RELEASE = pytest.mark.parametrize(
    "lab",
    [
        pytest.param(version, marks=() if version == DEFAULT_VERSION else pytest.mark.soak)
        for version in (*KAFKA_VERSIONS, VERSION_BETWEEN)
    ],
    indirect=True,
)
"""Runs a test on the newest Kafka, and by `make soak` on the other releases."""


@pytest.fixture(scope="session")
def running_secured_kafka(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], SecuredKafka]]:
    """Start the one of a release when a test first asks for it."""
    running: dict[str, SecuredKafka] = {}
    with ExitStack() as parts:

        def start(version: str) -> SecuredKafka:
            require_kafka(version)
            if version not in running:
                folder = tmp_path_factory.mktemp("realm")
                running[version] = parts.enter_context(secured_kafka(version, folder))
            return running[version]

        yield start


@pytest.fixture
def start_lab(
    running_secured_kafka: Callable[[str], SecuredKafka], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], SecuredKafka]:
    """Return the one of a release, with Kerberos in this process's environment."""

    def start(version: str) -> SecuredKafka:
        started = running_secured_kafka(version)
        if started.realm is not None:
            for name, value in started.realm.environment.items():
                monkeypatch.setenv(name, value)
        return started

    return start


@pytest.fixture
def lab(request: pytest.FixtureRequest, start_lab: Callable[[str], SecuredKafka]) -> SecuredKafka:
    """The one of the newest release, or of the release that `IN_EACH_RELEASE` gives."""
    return start_lab(getattr(request, "param", DEFAULT_VERSION))


@pytest.fixture(scope="session")
def embedded_brokers() -> Iterator[Callable[[Way], EmbeddedBroker]]:
    """Start the embedded broker of a way when a test first asks for it."""
    running: dict[Way, EmbeddedBroker] = {}
    with ExitStack() as parts:

        def start(way: Way) -> EmbeddedBroker:
            if way not in running:
                options: dict[str, Any] = {"security": way.protocol}
                if way.mechanism:
                    options |= {"users": {USER: PASSWORD}, "mechanisms": [way.mechanism]}
                if way.listener == MUTUAL_TLS:
                    options["ssl_client_auth"] = "required"
                broker = EmbeddedBroker.threaded(**options)
                running[way] = parts.enter_context(broker)
            return running[way]

        yield start


@pytest.fixture
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of our clients for one (broker, way): "embedded", or a release of Kafka."""
    broker, way = request.param
    require_way(way)
    if broker != "embedded":
        lab: SecuredKafka = request.getfixturevalue("start_lab")(broker)
        return lab.ours(way)
    embedded: EmbeddedBroker = request.getfixturevalue("embedded_brokers")(way)
    options: dict[str, Any] = {
        "bootstrap_servers": embedded.bootstrap_servers,
        "security_protocol": way.protocol,
    }
    if way.protocol.endswith("SSL"):
        options["ssl_cadata"] = embedded.ca_pem
    if way.listener == MUTUAL_TLS:
        certificate = embedded.client_certificate(USER)
        options["ssl_certfile"] = certificate.certificate_pem
        options["ssl_keyfile"] = certificate.key_pem
    return options | sasl_options(way, lambda: unsecured_token(USER))


def require_way(way: Way) -> None:
    """Skip the asking test where the machine lacks Kerberos."""
    reason = missing_kerberos()
    if way.mechanism == "GSSAPI" and reason is not None:
        pytest.skip(reason)
