"""Java's names of cipher suites in OpenSSL's notation."""

import ssl

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.ciphers import openssl_ciphers

JAVA_AND_OPENSSL = {
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384": "DHE-RSA-AES256-GCM-SHA384",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
}


@pytest.mark.parametrize(("java", "openssl"), JAVA_AND_OPENSSL.items())
def test_a_suite_of_java_is_the_same_suite_of_openssl(java: str, openssl: str) -> None:
    assert openssl_ciphers(java) == openssl
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ciphers(openssl)  # OpenSSL knows it
    assert openssl in {cipher["name"] for cipher in context.get_ciphers()}


def test_several_suites_keep_their_order() -> None:
    suites = "TLS_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    assert openssl_ciphers(suites) == "AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"


def test_suites_of_tls_1_3_need_no_choice() -> None:
    assert openssl_ciphers("TLS_AES_128_GCM_SHA256,TLS_CHACHA20_POLY1305_SHA256") is None


def test_what_is_no_suite_is_named() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"ssl.cipher.suites names 'HIGH'"):
        openssl_ciphers("HIGH")
