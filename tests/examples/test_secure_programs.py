"""The examples with TLS and SASL run against embedded brokers, and a provider on this machine."""

import asyncio
import base64
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.examples.test_fastapi_worker import load
from tests.support.token_issuer import CLIENT_ID, CLIENT_SECRET, TokenIssuer

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
PYTHON: Final = (sys.executable, "-W", "error")


def trusting(broker: EmbeddedBroker, folder: Path, **variables: str) -> dict[str, str]:
    """Return an environment in which the broker's authority is one of the system's."""
    (folder / "ca.pem").write_text(broker.ca_pem)
    return {**os.environ, "SSL_CERT_FILE": str(folder / "ca.pem"), **variables}


def run(name: str, environment: dict[str, str], *arguments: str) -> str:
    command = [*PYTHON, str(EXAMPLES / name), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=180, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_certificates(broker: EmbeddedBroker, folder: Path, *names: str) -> None:
    shown = broker.client_certificate("alice")
    contents = (broker.ca_pem, shown.certificate_pem, shown.key_pem)
    for name, content in zip(names, contents, strict=True):
        (folder / name).write_text(content)


@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_fastapi_writes_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = load(EXAMPLES / "tls_fastapi.py").app
    async with EmbeddedBroker(security="SSL", ssl_client_auth="required") as broker:
        write_certificates(broker, tmp_path, "ca.pem", "client.pem", "client.key")
        monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrap_servers)
        monkeypatch.setenv("KAFKA_TLS_FOLDER", str(tmp_path))
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://service") as client,
        ):
            answer = await client.post("/messages", json={"text": "hello"})
            assert (answer.status_code, answer.json()) == (201, {"partition": 0, "offset": 0})


def test_msk_gets_a_token_signed_by_aws(tmp_path: Path) -> None:
    tokens = []

    def accept(token: str) -> Mapping[str, Any]:
        tokens.append(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
        return {"sub": "role"}

    with EmbeddedBroker.threaded(security="SASL_SSL", token_validator=accept) as broker:
        environment = trusting(
            broker, tmp_path, AWS_ACCESS_KEY_ID="AKIA-OF-TEST", AWS_SECRET_ACCESS_KEY="x"
        )
        said = run("amazon_msk.py", environment, broker.bootstrap_servers, "eu-west-1")
    assert said == "written at offset 0\n"
    assert tokens[0].startswith("https://kafka.eu-west-1.amazonaws.com/?Action=kafka-cluster")
    assert "AKIA-OF-TEST" in tokens[0]


def test_confluent_cloud_takes_an_api_key(tmp_path: Path) -> None:
    users = {"KEY": "secret of the key"}
    with EmbeddedBroker.threaded(security="SASL_SSL", users=users, mechanisms=["PLAIN"]) as broker:
        environment = trusting(
            broker, tmp_path, CONFLUENT_API_KEY="KEY", CONFLUENT_API_SECRET="secret of the key"
        )
        said = run("confluent_cloud.py", environment, broker.bootstrap_servers)
    assert said == "written at offset 0\n"


def test_confluent_cloud_takes_a_token(tmp_path: Path) -> None:
    seen = []

    def accept(token: str) -> Mapping[str, Any]:
        seen.append(token)
        return {"sub": "pool"}

    with (
        TokenIssuer() as issuer,
        EmbeddedBroker.threaded(security="SASL_SSL", token_validator=accept) as broker,
    ):
        environment = trusting(
            broker,
            tmp_path,
            CONFLUENT_TOKEN_URL=issuer.token_url,
            CONFLUENT_CLIENT_ID=CLIENT_ID,
            CONFLUENT_CLIENT_SECRET=CLIENT_SECRET,
            CONFLUENT_CLUSTER="lkc-1",
            CONFLUENT_POOL="pool-1",
        )
        said = run("confluent_cloud.py", environment, broker.bootstrap_servers)
        assert issuer.issued == 1
    assert said == "written at offset 0\n"
    assert seen


def test_a_pod_reads_with_its_mounted_certificate(tmp_path: Path) -> None:
    with EmbeddedBroker.threaded(security="SSL", ssl_client_auth="required") as broker:
        write_certificates(broker, tmp_path, "ca.crt", "tls.crt", "tls.key")
        (tmp_path / "ca.pem").write_text(broker.ca_pem)
        options = {"security_protocol": "SSL", "ssl_cafile": str(tmp_path / "ca.crt")}
        options |= {"ssl_certfile": str(tmp_path / "tls.crt")}
        options |= {"ssl_keyfile": str(tmp_path / "tls.key")}
        write(broker.bootstrap_servers, options)
        environment = {
            **os.environ,
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers,
            "KAFKA_MOUNT": str(tmp_path),
        }
        program = subprocess.Popen(
            [*PYTHON, str(EXAMPLES / "kubernetes_mount.py")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert program.stdout is not None
        line = program.stdout.readline()
        program.send_signal(signal.SIGTERM)
        _, errors = program.communicate(timeout=60)
        assert (line, program.returncode) == ("0 b'an order'\n", 0), errors
        assert [each.offset for each in broker.group("kubernetes").offsets.values()] == [1]


def write(bootstrap_servers: str, options: dict[str, Any]) -> None:
    """Write one order, in an event loop of its own."""

    async def send() -> None:
        async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers, **options) as producer:
            await producer.send_and_wait("orders", b"an order")

    asyncio.run(send())
