"""What a client needs for a secured listener of a test, embedded or real. Does not wait."""

from collections.abc import Mapping, Sequence
from typing import Any

from aiokafka_lite.testing.broker.security.certificates import ClientCertificate


def tls_options(ca_pem: str, certificate: ClientCertificate | None) -> dict[str, Any]:
    """Return the options for TLS: whom to trust, and the certificate to show."""
    options = {"ssl_cadata": ca_pem}
    if certificate is not None:
        options["ssl_certfile"] = certificate.certificate_pem
        options["ssl_keyfile"] = certificate.key_pem
    return options


def sasl_options(
    user: str, mechanism: str | None, users: Mapping[str, str], mechanisms: Sequence[str]
) -> dict[str, Any]:
    """Return the options for SASL: `mechanism` or the first of `mechanisms`, user and password.

    A client by OAUTHBEARER needs a `sasl_oauth_token_provider` besides.

    Raises: ValueError for a mechanism or a user that the broker does not have.
    """
    if not mechanisms or (mechanism is not None and mechanism not in mechanisms):
        raise ValueError(
            f"mechanism must be one of this broker's, {', '.join(mechanisms) or 'none'}; "
            f"got {mechanism!r}"
        )
    options = {"sasl_mechanism": mechanism or mechanisms[0]}
    if options["sasl_mechanism"] != "OAUTHBEARER":
        if user not in users:
            raise ValueError(
                f"{user!r} is none of this broker's SASL users, {sorted(users)}: pass "
                "security='SASL_SSL' or 'SASL_PLAINTEXT', and users={name: password}"
            )
        options |= {"sasl_plain_username": user, "sasl_plain_password": users[user]}
    return options


__all__ = ["sasl_options", "tls_options"]
