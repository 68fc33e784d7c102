"""Says which option was meant when a client is given one it does not have. Does not wait."""

import difflib
from collections.abc import Collection

OTHER_NAMES = {
    "batch_size": "max_batch_size",
    "brokers": "bootstrap_servers",
    "group": "group_id",
    "interceptor_classes": "interceptors",
    "metric_reporters": "observer",
    "partitioner_class": "partitioner",
    "ssl_ca_location": "ssl_cafile",
    "ssl_certificate_location": "ssl_certfile",
    "ssl_cipher_suites": "ssl_ciphers",
    "ssl_crl_location": "ssl_crlfile",
    "ssl_endpoint_identification_algorithm": "ssl_check_hostname",
    "ssl_key_location": "ssl_keyfile",
    "ssl_key_password": "ssl_password",
    "ssl_keystore_location": "ssl_certfile",
    "ssl_truststore_certificates": "ssl_cadata",
    "ssl_truststore_location": "ssl_cafile",
}
"""What Java, librdkafka and kafka-python call options that have another name here."""


def meant_option(name: str, known: Collection[str]) -> str | None:
    """Return the option of `known` that is most likely meant by `name`, None if none is near.

    Java's names with dots are known, too.
    """
    plain = name.replace(".", "_")
    wanted = OTHER_NAMES.get(plain, plain)
    if wanted in known:
        return wanted
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.75)
    return near[0] if near else None


__all__ = ["meant_option"]
