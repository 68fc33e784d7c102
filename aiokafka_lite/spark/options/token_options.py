"""The options of delegation tokens: whether executors log in by one, and by which mechanism.

Does not wait.
"""

from collections.abc import Mapping
from typing import Final

from aiokafka_lite.spark.options.given_options import GivenOptions
from aiokafka_lite.spark.options.kafka_keys import boolean
from aiokafka_lite.spark.options.sealed_properties import SECURITY, SealedProperties

TOKEN_OPTIONS: Final = ("delegationToken", "delegationTokenMechanism")
_USED, _MECHANISM = TOKEN_OPTIONS
_SCRAM: Final = ("SCRAM-SHA-512", "SCRAM-SHA-256")


def token_mechanism(reader: GivenOptions, client: Mapping[str, object]) -> str | None:
    """Return the mechanism by which executors log in with a delegation token.

    None: they log in with the options of the user. Faults are noted in `reader`.
    """
    is_used = reader.optional(_USED, boolean, "true or false")
    mechanism = reader.text(_MECHANISM)
    if not is_used:
        if mechanism is not None:
            reader.fault(f"option {_MECHANISM} has no effect without {_USED}=true")
        return None
    security = client.get(SECURITY)
    own = security if isinstance(security, SealedProperties) else SealedProperties({})
    if (own.text("security.protocol") or "").upper() not in ("SASL_SSL", "SASL_PLAINTEXT"):
        reader.fault(
            f"option {_USED} needs kafka.security.protocol=SASL_SSL (or SASL_PLAINTEXT), because"
            " executors log in by SCRAM"
        )
    if mechanism is None:
        used = own.text("sasl.mechanism")
        mechanism = used if used in _SCRAM else _SCRAM[0]
    if mechanism not in _SCRAM:
        reader.fault(f"option {_MECHANISM}={mechanism!r} is not one of {', '.join(_SCRAM)}")
    return mechanism


__all__ = ["TOKEN_OPTIONS", "token_mechanism"]
