"""Each example of docs/security.md runs, and each sentence that it explains is one of the code's.

The page's addresses and folders stand for those of the test: embedded brokers, a provider of tokens
on this machine, and a real Kafka for Kerberos.
"""

import ast
import base64
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from typer.testing import CliRunner

from aiokafka_lite.cli.app import app
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from aiokafka_lite.testing.broker import DelegationToken, EmbeddedBroker
from tests.conftest import require_kafka
from tests.security.conftest import require_way
from tests.support.documents import ROOT, SECURITY, python_blocks
from tests.support.secured_kafka import KERBEROS, PASSWORD, USER, SecuredKafka, Way
from tests.support.token_issuer import AUDIENCE, CLIENT_SECRET, TokenIssuer, private_key_pem

ONE_LOOP: Final = pytest.mark.asyncio(loop_factories=["asyncio"])
"""The examples have nothing to do with the event loop."""

BLOCKS: Final = python_blocks(SECURITY)
KERBEROS_HOST: Final = "kerberos.example.com:9093"
REAL: Final = (KERBEROS_HOST, "ApacheKafka(")
"""What the blocks contain that need a real Kafka."""
TOKEN_ID, TOKEN_HMAC = "token-of-alice", "aG1hYw=="
SIGNED_URL: Final = "https://kafka.eu-central-1.amazonaws.com/?Action=kafka-cluster%3AConnect"


def heading(block: str) -> str:
    """Return the heading above a block."""
    above = SECURITY.read_text().split("\n")[
        : block.count("\n", 0, len(block) - len(block.lstrip()))
    ]
    return next(line.lstrip("# ") for line in reversed(above) if line.startswith("#"))


def blocks(*, real: bool) -> list[Any]:
    """Return the blocks that need a real Kafka, or the others, each with its heading as its id."""
    chosen = [block for block in BLOCKS if any(each in block for each in REAL) is real]
    return [pytest.param(block, id=heading(block)) for block in chosen]


class Claims:
    """Checks tokens as brokers do: those of the provider by its key, those of AWS by their form."""

    def __init__(self, issuer: TokenIssuer) -> None:
        self._key = issuer.jwks()["keys"][0]

    def __call__(self, token: str) -> Mapping[str, Any]:
        if token.count(".") != 2:
            assert decoded(token).decode().startswith(SIGNED_URL)
            return {"sub": USER}
        signed, _, signature = token.rpartition(".")
        modulus, exponent = (int.from_bytes(decoded(self._key[name])) for name in "ne")
        key = rsa.RSAPublicNumbers(exponent, modulus).public_key()
        key.verify(decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        claims: dict[str, Any] = json.loads(decoded(token.split(".")[1]))
        assert claims["aud"] == AUDIENCE
        return claims


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass(frozen=True)
class World:
    """What stands behind the page's addresses and folders."""

    places: Mapping[str, str]
    environment: Mapping[str, str]
    issuer: TokenIssuer

    async def run(self, block: str) -> None:
        for place, here in self.places.items():
            block = block.replace(place, here)
        code = compile(block, str(SECURITY), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names: dict[str, Any] = {
            "token_of_the_company": self._token,
            "read_vault": lambda host: PASSWORD.encode() if host == "127.0.0.1" else b"",
        }
        done = eval(code, names)
        if isawaitable(done):
            await done

    async def _token(self) -> str:
        return self.issuer.sign(USER)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One broker with TLS, one with SASL besides, and a provider of tokens."""
    import_module("aws_msk_iam_sasl_signer.MSKAuthTokenProvider")  # takes seconds under load
    folder = tmp_path_factory.mktemp("kafka")
    with ExitStack() as parts:
        issuer = parts.enter_context(TokenIssuer())
        tls = EmbeddedBroker.threaded(security="SSL", ssl_client_auth="requested")
        sasl = EmbeddedBroker.threaded(
            security="SASL_SSL",
            users={USER: PASSWORD},
            delegation_tokens={TOKEN_ID: DelegationToken(USER, TOKEN_HMAC)},
            token_validator=Claims(issuer),
        )
        tls_broker, sasl_broker = parts.enter_context(tls), parts.enter_context(sasl)
        ca_pem = tls_broker.ca_pem + sasl_broker.ca_pem
        shown = tls_broker.client_certificate(USER)
        files = {
            "ca.pem": ca_pem,
            "client.pem": shown.certificate_pem,
            "client.key": shown.key_pem,
            "password": f"{PASSWORD}\n",
            "assertion": issuer.sign(USER),
            "assertion.key": private_key_pem(),
            "kafka": issuer.sign(USER),
        }
        for name, content in files.items():
            (folder / name).write_text(content)
        yield World(
            places={
                "tls.example.com:9093": tls_broker.bootstrap_servers,
                "kafka.example.com:9093": sasl_broker.bootstrap_servers,
                "https://login.example.com/oauth2/token": issuer.token_url,
                "/etc/kafka/": f"{folder}/",
                "/var/run/secrets/tokens/": f"{folder}/",
            },
            environment={
                "KAFKA_CA": ca_pem,
                "KAFKA_PASSWORD": PASSWORD,
                "CLIENT_SECRET": CLIENT_SECRET,
                "TOKEN_ID": TOKEN_ID,
                "TOKEN_HMAC": TOKEN_HMAC,
                "SSL_CERT_FILE": str(folder / "ca.pem"),  # the authorities of the system
                "AWS_ACCESS_KEY_ID": "a",
                "AWS_SECRET_ACCESS_KEY": "b",
            },
            issuer=issuer,
        )


@ONE_LOOP
@pytest.mark.parametrize("block", blocks(real=False))
async def test_an_example_runs(block: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    await world.run(block)


@ONE_LOOP
@pytest.mark.real_kafka
@pytest.mark.parametrize("block", blocks(real=True))
async def test_an_example_runs_on_a_real_kafka(
    block: str, world: World, request: pytest.FixtureRequest
) -> None:
    if KERBEROS_HOST not in block:
        require_kafka(DEFAULT_VERSION)
        await world.run(block)
        return
    way = Way(KERBEROS, "SASL_PLAINTEXT", "GSSAPI")
    require_way(way)
    lab: SecuredKafka = request.getfixturevalue("lab")
    assert lab.realm is not None
    block = block.replace(KERBEROS_HOST, lab.servers(way))
    await world.run(block.replace("/etc/kafka/client.keytab", str(lab.realm.client_keytab)))


def test_the_file_of_the_command_line_reaches_the_cluster(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = SECURITY.read_text()
    shown = page[page.index("## The command line") : page.index("## Tests")]
    (block,) = re.findall(r"(?:^    .*\n)+", shown, re.MULTILINE)
    for place, here in {**world.places, "…": PASSWORD}.items():
        block = block.replace(place, here)
    first, *properties = textwrap.dedent(block).splitlines()
    monkeypatch.chdir(tmp_path)
    Path("client.properties").write_text("\n".join(properties))
    program, *arguments = first.removeprefix("# client.properties: ").split()
    assert program == "aiokafka-lite"
    listed = CliRunner().invoke(app, arguments)
    assert listed.exit_code == 0, listed.stderr


def test_each_block_of_the_page_is_run() -> None:
    """Python blocks run above, and the one indented block is the file of the command line."""
    page = SECURITY.read_text()
    assert page.count("\n```") == 2 * len(BLOCKS)
    assert len(BLOCKS) == len(blocks(real=False)) + len(blocks(real=True))
    assert len(re.findall(r"\n\n    \S", re.sub(r"```.*?```", "", page, flags=re.DOTALL))) == 1


def texts() -> str:
    """Return every string of the rooms that secure connections."""
    found = []
    package = ROOT / "aiokafka_lite"
    for path in (*sorted((package / "net").rglob("*.py")), package / "protocol" / "frame.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                parts = (
                    part.value if isinstance(part, ast.Constant) else "\n" for part in node.values
                )
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n\n".join(found)


def test_the_errors_of_the_page_are_those_of_the_code() -> None:
    page = SECURITY.read_text()
    table = page[page.index("| the error says") : page.index("## Rights")]
    said = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert len(said) > 15
    known = texts()
    assert [each for each in said if each not in known] == []
