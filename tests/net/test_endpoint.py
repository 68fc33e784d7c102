"""The notation of addresses."""

import socket

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.net.endpoint import Address, Endpoint, parse_bootstrap


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("kafka1:9093", [Endpoint("kafka1", 9093)]),
        ("kafka1", [Endpoint("kafka1", 9092)]),
        ("a:1,b:2", [Endpoint("a", 1), Endpoint("b", 2)]),
        (" a:1 , b:2 ,", [Endpoint("a", 1), Endpoint("b", 2)]),
        (["a:1", "b:2"], [Endpoint("a", 1), Endpoint("b", 2)]),
        (("a:1,b:2", "c"), [Endpoint("a", 1), Endpoint("b", 2), Endpoint("c", 9092)]),
        ("a:1,a:1", [Endpoint("a", 1)]),
        ("127.0.0.1:65535", [Endpoint("127.0.0.1", 65535)]),
        ("[::1]:9094", [Endpoint("::1", 9094)]),
        ("[fe80::1%eth0]", [Endpoint("fe80::1%eth0", 9092)]),
        ("2001:db8::7", [Endpoint("2001:db8::7", 9092)]),
        ("::1", [Endpoint("::1", 9092)]),
        ("2001:db8:0:0:0:0:0:1", [Endpoint("2001:db8:0:0:0:0:0:1", 9092)]),
        ("2001:db8::7:ab", [Endpoint("2001:db8::7:ab", 9092)]),
        ("[::1:9092]", [Endpoint("::1:9092", 9092)]),
    ],
)
def test_every_usual_notation_is_read(given: str | list[str], expected: list[Endpoint]) -> None:
    assert parse_bootstrap(given) == expected


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("kafka:port", "'kafka:port': port 'port' is not a number from 1 to 65535"),
        ("kafka:0", "port '0'"),
        ("kafka:65536", "port '65536'"),
        ("kafka:99999999999999999999", "port '99999999999999999999'"),
        ("kafka:", "port ''"),
        ("kafka:٣", "port '٣'"),
        (":9092", "the host is missing"),
        ("[::1", "an IPv6 address with a port is written"),
        ("[::1]9092", "an IPv6 address with a port is written"),
        ("::1:9092", 'written "[::1]:9092"; if all of it is the address, write "[::1:9092]"'),
        ("2001:db8:0:0:0:0:0:1:9092", 'written "[2001:db8:0:0:0:0:0:1]:9092"'),
        ("fe80::1%eth0:9092", 'written "[fe80::1%eth0]:9092"'),
        ("two words:9092", "is no host name or IP address"),
        ("PLAINTEXT://kafka:9092", 'leave out "PLAINTEXT://"'),
        ("", "no address given"),
        ([], "no address given"),
        (",,", "no address given"),
        (None, "None is no string or list of strings"),
        (b"kafka:9092", "is no string or list of strings"),
        ([("kafka", 9092)], "('kafka', 9092) is no string"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named_with_the_reason(given: object, named: str) -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        parse_bootstrap(given)  # type: ignore[arg-type]  # what users pass by mistake
    assert named in str(caught.value)


def test_all_bad_entries_are_named_in_one_error() -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        parse_bootstrap("a:x,good:1,:2")
    assert "'a:x'" in str(caught.value)
    assert "':2'" in str(caught.value)
    assert "good" not in str(caught.value)


def test_an_ipv6_address_is_printed_in_brackets() -> None:
    assert str(Endpoint("::1", 9092)) == "[::1]:9092"
    assert str(Endpoint("kafka", 9092)) == "kafka:9092"
    assert str(Address(socket.AF_INET6, ("::1", 9092, 0, 0))) == "[::1]:9092"
    assert str(Address(socket.AF_INET, ("127.0.0.1", 9092))) == "127.0.0.1:9092"
