"""The name that a certificate has to be for is the host as certificates write it."""

import pytest

from aiokafka_lite.net.tls.tls_name import tls_name


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("kafka.example.org", "kafka.example.org"),
        ("kafka-0.kafka.svc.cluster.local.", "kafka-0.kafka.svc.cluster.local"),
        ("10.1.2.3", "10.1.2.3"),
        ("fe80::1%eth0", "fe80::1"),
    ],
)
def test_dots_and_scopes_at_the_end_do_not_belong_to_the_name(host: str, name: str) -> None:
    assert tls_name(host) == name
