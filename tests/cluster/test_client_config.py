"""Every option has a default, a limit and a fault naming both; nothing is accepted and ignored."""

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import pytest

from aiokafka_lite.cluster.client_config import ClientConfig, at_least, not_above, one_of
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.net.endpoint import Endpoint


def test_defaults_are_those_of_java_4_and_the_address_is_aiokafkas() -> None:
    """An option common to both clients has the default of Java's client (2h-1)."""
    config = ClientConfig()
    assert config.bootstrap_servers == "localhost"
    assert config.endpoints == [Endpoint("localhost", 9092)]
    assert config.request_timeout_ms == 30_000
    assert config.default_api_timeout_ms == 60_000
    assert config.metadata_max_age_ms == 300_000
    assert (config.retry_backoff_ms, config.retry_backoff_max_ms) == (100, 1000)
    assert (config.reconnect_backoff_ms, config.reconnect_backoff_max_ms) == (50, 1000)
    assert config.socket_connection_setup_timeout_ms == 10_000
    assert config.socket_connection_setup_timeout_max_ms == 30_000
    assert config.connections_max_idle_ms == 540_000
    assert config.metadata_recovery_strategy == "rebootstrap"
    assert config.metadata_recovery_rebootstrap_trigger_ms == 300_000
    assert config.metadata_cluster_check_enable is True
    assert config.security_protocol == "PLAINTEXT"
    assert config.sasl_mechanism == "PLAIN"


def test_a_client_id_is_filled_in_when_none_is_given() -> None:
    assert ClientConfig().client_id.startswith("aiokafka-lite-")
    assert ClientConfig(client_id="billing").client_id == "billing"


@pytest.mark.parametrize("servers", ["one:1,two:2", ["one:1", "two:2"], ("one:1", "two:2")])
def test_bootstrap_servers_may_be_text_or_a_sequence(servers: Any) -> None:
    assert ClientConfig(bootstrap_servers=servers).endpoints == [
        Endpoint("one", 1),
        Endpoint("two", 2),
    ]


def test_a_config_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        ClientConfig().request_timeout_ms = 1  # type: ignore[misc]  # that is what must fail


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("request_timeout_ms", 0, ["0", "minimum of 1"]),
        ("request_timeout_ms", "30", ["'30'", "str", "int"]),
        ("request_timeout_ms", True, ["True", "bool", "int"]),
        ("request_timeout_ms", 2**31, ["2147483648", "maximum of 2147483647"]),
        ("default_api_timeout_ms", 0, ["0", "minimum of 1"]),
        ("metadata_max_age_ms", -1, ["-1", "minimum of 0"]),
        ("retry_backoff_ms", -1, ["-1", "minimum of 0"]),
        ("reconnect_backoff_max_ms", -5, ["-5", "minimum of 0"]),
        ("socket_connection_setup_timeout_ms", 0, ["0", "minimum of 1"]),
        ("connections_max_idle_ms", 0, ["0", "minimum of 1"]),
        ("send_buffer_bytes", -2, ["-2", "minimum of -1"]),
        ("receive_buffer_bytes", None, ["None", "NoneType"]),
        ("metadata_recovery_strategy", "restart", ["'restart'", "'rebootstrap'", "'none'"]),
        ("metadata_recovery_rebootstrap_trigger_ms", -1, ["-1", "minimum of 0"]),
        ("metadata_cluster_check_enable", "yes", ["'yes'", "True", "False"]),
        ("security_protocol", "TLS", ["'TLS'", "'PLAINTEXT'", "'SASL_SSL'"]),
        ("client_id", 7, ["7", "int", "str"]),
        ("bootstrap_servers", "host:http", ["host:http"]),
        ("bootstrap_servers", [], ["bootstrap_servers"]),
    ],
)
def test_a_fault_names_option_value_limit_and_remedy(
    option: str, value: Any, words: list[str]
) -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        ClientConfig(**{option: value})
    for word in [option, *words]:
        assert word in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_all_faults_come_in_one_error() -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        ClientConfig(request_timeout_ms=0, retry_backoff_ms=-1, bootstrap_servers="a:b")
    text = str(caught.value)
    assert "3 faults" in text
    assert "request_timeout_ms" in text
    assert "retry_backoff_ms" in text
    assert "a:b" in text


def test_a_backoff_above_its_maximum_is_a_fault_only_when_both_were_set() -> None:
    with pytest.raises(KafkaConfigurationError, match="retry_backoff_ms=500 exceeds"):
        ClientConfig(retry_backoff_ms=500, retry_backoff_max_ms=200)
    assert ClientConfig(retry_backoff_ms=5000).retry_backoff_max_ms == 5000


def test_the_maximum_follows_when_only_reconnect_backoff_ms_is_set() -> None:
    """`reconnect_backoff_ms` alone sets the maximum too, so the backoff does not grow (2f-3)."""
    assert ClientConfig(reconnect_backoff_ms=200).reconnect_backoff_max_ms == 200
    assert ClientConfig(reconnect_backoff_ms=50).reconnect_backoff_max_ms == 50
    config = ClientConfig(reconnect_backoff_ms=200, reconnect_backoff_max_ms=3000)
    assert config.reconnect_backoff_max_ms == 3000


def test_replace_keeps_what_was_set_and_what_follows() -> None:
    config = replace(ClientConfig(reconnect_backoff_ms=200), reconnect_backoff_ms=70)
    assert config.reconnect_backoff_max_ms == 70
    assert replace(ClientConfig(), client_id="x").reconnect_backoff_max_ms == 1000


def test_repr_shows_options_but_no_secret() -> None:
    text = repr(ClientConfig(client_id="billing"))
    assert "client_id='billing'" in text
    for secret in ("sasl_plain_password", "sasl_oauth_token_provider", "ssl_context"):
        assert secret not in text


def test_a_subclass_adds_options_and_faults_to_the_same_error() -> None:
    @dataclass(frozen=True, kw_only=True, slots=True)
    class Special(ClientConfig):
        linger_ms: int = 5
        acks: str = "all"

        def _faults(self) -> Iterator[str]:
            yield from ClientConfig._faults(self)
            yield from at_least("linger_ms", self.linger_ms, 0)
            yield from one_of("acks", self.acks, ("all", "1"))

        def _default_client_id(self) -> str:
            return "special-1"

    assert Special().client_id == "special-1"
    with pytest.raises(KafkaConfigurationError, match="Special has 3 faults"):
        Special(linger_ms=-1, acks="2", request_timeout_ms=0)


def test_helpers_yield_nothing_for_good_values() -> None:
    assert not list(at_least("a", 1, 1))
    assert not list(at_least("a", 9, 1, 9))
    assert not list(one_of("a", "x", ("x", "y")))
    assert not list(not_above("a", 1, "b", 1))
    assert list(not_above("a", 2, "b", 1)) == ["a=2 exceeds b=1; lower a or raise b"]
