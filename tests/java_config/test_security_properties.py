"""Java's security properties become the client's options that mean the same, or a fault says why
not. None of them is ignored, and no text shows a password.
"""

import base64
import re
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.security_properties import client_options, is_security_property
from aiokafka_lite.net.sasl.tokens.oidc import OidcTokenProvider
from aiokafka_lite.net.sasl.tokens.token_file import FileTokenProvider
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from aiokafka_lite.testing.java_runtime import kafka_clients_jar
from tests.conftest import require_kafka

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
KERBEROS = "com.sun.security.auth.module.Krb5LoginModule"
CERTIFICATE = Path(__file__).parents[1] / "net" / "tls" / "localhost.pem"


def of(**properties: str) -> dict[str, Any]:
    """Return the options for properties whose dots are underscores here."""
    return client_options(
        {name.replace("_", "."): Secret(value) for name, value in properties.items()}
    )


def sasl(mechanism: str, jaas: str, **properties: str) -> dict[str, Any]:
    return of(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism=mechanism,
        sasl_jaas_config=jaas,
        **properties,
    )


def test_without_properties_nothing_is_secured() -> None:
    assert of() == {"security_protocol": "PLAINTEXT"}


def test_names_of_security_are_known() -> None:
    assert is_security_property("security.protocol")
    assert is_security_property("ssl.truststore.location")
    assert is_security_property("sasl.jaas.config")
    assert not is_security_property("security.providers")


@pytest.mark.parametrize(
    ("mechanism", "module"), [("PLAIN", PLAIN), ("SCRAM-SHA-256", SCRAM), ("SCRAM-SHA-512", SCRAM)]
)
def test_user_and_password_come_from_the_jaas_text(mechanism: str, module: str) -> None:
    options = sasl(mechanism, f'{module} required username="alice" password="hunter2";')
    assert options == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "alice",
        "sasl_plain_password": Secret("hunter2"),
    }
    assert "hunter2" not in repr(ClientConfig(**options))


def test_a_delegation_token_is_scram_with_tokenauth() -> None:
    jaas = f'{SCRAM} required username="id" password="hmac" tokenauth="true";'
    assert sasl("SCRAM-SHA-256", jaas)["sasl_scram_tokenauth"] is True


def test_kerberos_takes_a_keytab_or_the_ticket_cache() -> None:
    keytab = (
        f'{KERBEROS} required useKeyTab=true storeKey=true keyTab="/etc/a.keytab"'
        ' principal="alice@EXAMPLE";'
    )
    options = sasl("GSSAPI", keytab, sasl_kerberos_service_name="broker")
    assert options["sasl_kerberos_service_name"] == "broker"
    assert options["sasl_kerberos_keytab"] == "/etc/a.keytab"
    assert options["sasl_kerberos_principal"] == "alice@EXAMPLE"
    cached = sasl("GSSAPI", f"{KERBEROS} required useTicketCache=true serviceName=kafka;")
    assert cached["sasl_kerberos_service_name"] == "kafka"
    assert "sasl_kerberos_keytab" not in cached


TOKENS = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


@pytest.mark.parametrize("is_in_jaas", [True, False])
async def test_a_token_endpoint_becomes_a_provider(is_in_jaas: bool) -> None:
    url = "http://127.0.0.1:1/token"
    properties = {"sasl_oauthbearer_token_endpoint_url": url}
    jaas = f'{TOKENS} required clientId="me" clientSecret="hunter2" scope="kafka" extension_a="b";'
    if not is_in_jaas:
        jaas = f"{TOKENS} required;"
        properties["sasl_oauthbearer_client_credentials_client_id"] = "me"
        properties["sasl_oauthbearer_client_credentials_client_secret"] = "hunter2"
    provider = sasl("OAUTHBEARER", jaas, **properties)["sasl_oauth_token_provider"]
    assert isinstance(provider, OidcTokenProvider)
    assert provider.extensions() == ({"a": "b"} if is_in_jaas else {})
    assert "hunter2" not in repr(vars(provider) if hasattr(provider, "__dict__") else provider)


@pytest.mark.parametrize(("value", "sent"), [("true", "me%2F:a+b"), ("false", "me/:a b")])
async def test_id_and_secret_are_url_encoded_if_java_does_so(
    value: str, sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(base64.b64decode(request.headers["authorization"].split()[1]).decode())
        return httpx.Response(200, json={"access_token": "abc"})

    make = httpx.AsyncClient

    def client(*, transport: object, **options: Any) -> httpx.AsyncClient:
        return make(transport=httpx.MockTransport(answer), **options)

    monkeypatch.setattr(httpx, "AsyncClient", client)
    provider = sasl(
        "OAUTHBEARER",
        f'{TOKENS} required clientId="me/" clientSecret="a b";',
        sasl_oauthbearer_token_endpoint_url="http://127.0.0.1:1/token",
        sasl_oauthbearer_header_urlencode=value,
    )["sasl_oauth_token_provider"]
    assert await provider.token() == "abc"
    assert seen == [sent]


async def test_a_token_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a token").write_text("abc.def.ghi")
    url = (tmp_path / "a token").as_uri()
    options = sasl("OAUTHBEARER", f"{TOKENS} required;", sasl_oauthbearer_token_endpoint_url=url)
    assert isinstance(options["sasl_oauth_token_provider"], FileTokenProvider)


def test_the_mechanism_is_java_s_default_if_none_is_named() -> None:
    options = of(security_protocol="SASL_PLAINTEXT", sasl_kerberos_service_name="kafka")
    assert options["sasl_mechanism"] == "GSSAPI"


def test_pem_files_stay_files_so_that_new_content_is_used() -> None:
    options = of(
        security_protocol="SSL",
        ssl_truststore_location=str(CERTIFICATE),
        ssl_truststore_type="PEM",
        ssl_keystore_location=str(CERTIFICATE),
        ssl_keystore_type="PEM",
    )
    assert options["ssl_cafile"] == options["ssl_certfile"] == str(CERTIFICATE)
    ClientConfig(**options)


def test_each_file_is_one_that_the_caller_finds() -> None:
    asked = []

    def find(name: str, path: str) -> str:
        asked.append((name, path))
        return str(CERTIFICATE)

    def of_found(properties: dict[str, str]) -> dict[str, Any]:
        return client_options({name: Secret(value) for name, value in properties.items()}, find)

    stores = {"ssl.truststore.location": "ca", "ssl.keystore.location": "me"}
    options = of_found({"security.protocol": "SSL", **stores})
    assert (options["ssl_cafile"], options["ssl_certfile"]) == (str(CERTIFICATE), str(CERTIFICATE))
    sasl = {"security.protocol": "SASL_PLAINTEXT"}
    jaas = f'{KERBEROS} required serviceName=kafka useKeyTab=true keyTab="k" principal="p";'
    options = of_found({**sasl, "sasl.jaas.config": jaas})
    assert options["sasl_kerberos_keytab"] == str(CERTIFICATE)
    url = "sasl.oauthbearer.token.endpoint.url"
    of_found({**sasl, "sasl.mechanism": "OAUTHBEARER", url: "file:token"})
    signing = {url: "https://a/b", "sasl.oauthbearer.jwt.retriever.class": "JwtBearerJwtRetriever"}
    for each in ("file", "private.key.file"):
        name = f"sasl.oauthbearer.assertion.{each}"
        of_found({**sasl, "sasl.mechanism": "OAUTHBEARER", **signing, name: each})
    assert asked == [
        *stores.items(),
        ("keyTab in sasl.jaas.config", "k"),
        (url, "token"),
        ("sasl.oauthbearer.assertion.file", "file"),
        ("sasl.oauthbearer.assertion.private.key.file", "private.key.file"),
    ]


def test_pem_texts_are_taken_as_they_are() -> None:
    pem = CERTIFICATE.read_text()
    chain, key = pem[pem.index("-----BEGIN CERT") :], pem
    options = client_options(
        {
            "security.protocol": Secret("ssl"),
            "ssl.truststore.certificates": Secret(pem),
            "ssl.keystore.certificate.chain": Secret(chain),
            "ssl.keystore.key": Secret(key),
        }
    )
    assert options["security_protocol"] == "SSL"
    assert "PRIVATE KEY" not in repr(options["ssl_keyfile"])
    ClientConfig(**options)


def test_an_empty_identification_algorithm_switches_the_host_name_check_off() -> None:
    without = of(security_protocol="SSL", ssl_endpoint_identification_algorithm="")
    assert without["ssl_check_hostname"] is False
    with_check = of(security_protocol="SSL", ssl_endpoint_identification_algorithm="https")
    assert "ssl_check_hostname" not in with_check


def test_java_s_suites_become_openssl_s() -> None:
    options = of(security_protocol="SSL", ssl_cipher_suites="TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
    assert options["ssl_ciphers"] == "ECDHE-RSA-AES128-GCM-SHA256"


def test_how_java_logs_in_has_no_effect() -> None:
    properties = {
        "sasl_login_refresh_window_factor": "0.8",
        "sasl_kerberos_kinit_cmd": "/bin/kinit",
    }
    jaas = f"{PLAIN} required username=alice password=hunter2;"
    assert sasl("PLAIN", jaas, **properties) == sasl("PLAIN", jaas)


@pytest.mark.parametrize(
    ("properties", "what"),
    [
        ({"sasl_mechanism": "MD5"}, "sasl.mechanism='MD5' is not known"),
        ({"sasl_mechanism": "PLAIN"}, "needs sasl.jaas.config with username and password"),
        (
            {"sasl_mechanism": "PLAIN", "sasl_jaas_config": f"{SCRAM} required;"},
            "names ScramLoginModule, and sasl.mechanism=PLAIN needs PlainLoginModule",
        ),
        (
            {"sasl_mechanism": "PLAIN", "sasl_jaas_config": f"{PLAIN} required password=hunter2;"},
            "PlainLoginModule lacks username",
        ),
        (
            {"sasl_mechanism": "PLAIN", "sasl_jaas_config": f"{PLAIN} required username=alice;"},
            "PlainLoginModule lacks password",
        ),
        ({"sasl_mechanism": "GSSAPI"}, "sasl.kerberos.service.name is missing"),
        ({"sasl_mechanism": "OAUTHBEARER"}, "needs sasl.oauthbearer.token.endpoint.url"),
        (
            {
                "sasl_mechanism": "OAUTHBEARER",
                "sasl_oauthbearer_token_endpoint_url": "https://a/b",
            },
            "needs the id and the secret",
        ),
        (
            {"sasl_mechanism": "OAUTHBEARER", "sasl_login_callback_handler_class": "a.Mine"},
            "only OAuthBearerLoginCallbackHandler is known",
        ),
        (
            {
                "sasl_mechanism": "OAUTHBEARER",
                "sasl_oauthbearer_token_endpoint_url": "https://a/b",
                "sasl_oauthbearer_jwt_validator_class": "a.Mine",
            },
            "jwt.validator.class='a.Mine' is not known",
        ),
        ({"ssl_truststore_location": "/absent.pem"}, "absent.pem.*every machine"),
        ({"ssl_truststore_type": "BKS"}, "ssl.truststore.type='BKS' is not known"),
        ({"ssl_keystore_key": "hunter2"}, "belong together"),
        ({"ssl_endpoint_identification_algorithm": "ldap"}, "'ldap' is not known"),
        ({"ssl_enabled_protocols": "TLSv1,TLSv1.1"}, "no version that the client speaks"),
        ({"ssl_engine_factory_class": "com.Example"}, "it is a Java class"),
        ({"sasl_login_class": "com.Example"}, "it is a Java class"),
        ({"ssl_new_in_java": "hunter2"}, "ssl.new.in.java is not supported"),
    ],
)
def test_what_cannot_be_kept_is_a_fault(properties: dict[str, str], what: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=what) as raised:
        of(security_protocol="SASL_SSL", **properties)
    assert "hunter2" not in str(raised.value)


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"(?s)/absent.*sasl.mechanism='MD5'"):
        of(security_protocol="SASL_SSL", ssl_truststore_location="/absent", sasl_mechanism="MD5")


def test_properties_of_what_is_not_used_are_ignored_as_in_java() -> None:
    assert of(security_protocol="PLAINTEXT", ssl_truststore_location="/absent") == {
        "security_protocol": "PLAINTEXT"
    }


def names_of_java() -> list[str]:
    """Return the security properties of Java's newest clients, as their classes name them."""
    found: set[str] = set()
    with zipfile.ZipFile(kafka_clients_jar(DEFAULT_VERSION)) as jar:
        for java_class in ("SslConfigs", "SaslConfigs"):
            data = jar.read(f"org/apache/kafka/common/config/{java_class}.class")
            for size, text in re.findall(rb"(?s)\x01\0(.)((?:ssl|sasl)[.][a-z0-9.]+)", data):
                found.add(text[: size[0]].decode())
    return sorted(found)


@pytest.mark.real_kafka
def test_each_property_of_java_is_kept_or_has_no_effect() -> None:
    """Of all that a properties file can name, the client refuses two, with the reason."""
    require_kafka(DEFAULT_VERSION)
    names = names_of_java()
    assert len(names) > 60
    refused = {name for name in names if is_refused(name)}
    assert refused == {
        "sasl.oauthbearer.assertion.template.file",
        "sasl.oauthbearer.jwks.endpoint.url",
    }


def is_refused(name: str) -> bool:
    """Return whether a property has no meaning here, in the set-up that it is for."""
    setup = {"security.protocol": "SASL_SSL"}
    if "oauthbearer" in name or ".login." in name:
        setup |= {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.token.endpoint.url": "https://a/b",
        }
    if ".assertion." in name:
        setup["sasl.oauthbearer.jwt.retriever.class"] = "JwtBearerJwtRetriever"
        setup["sasl.oauthbearer.assertion.private.key.file"] = "key.pem"
    try:
        client_options({key: Secret(value) for key, value in (setup | {name: "1"}).items()})
    except KafkaConfigurationError as error:
        return f"{name} is not supported: the client has nothing" in str(error)
    return False
