"""Turns names and texts, as of a file or a command line, into options of a client.

A name is that of an option (`linger_ms`) or Java's (`linger.ms`). It reads the files that security
properties name, and blocks.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.security_properties import client_options, is_security_property
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.options.declared_options import Option, declared_options
from aiokafka_lite.options.secret_options import hidden
from aiokafka_lite.secret import Secret, SecretValue

_ALIKE = {"security.protocol": "security_protocol", "sasl.mechanism": "sasl_mechanism"}
"""Java's names whose values are those of the client's options."""
_TRUTH = {"true": True, "false": False}


def options_from_text(
    config: type, given: Mapping[str, SecretValue]
) -> tuple[dict[str, Any], list[str]]:
    """Return the options of `config` that are given, and the names that it does not know.

    Java's names of security are read as Java reads them, with its JAAS text and key stores.

    Raises: KafkaConfigurationError with a sentence for each fault. None shows a password.
    """
    texts = {name: Secret(text) for name, text in given.items()}
    del given  # the frames of errors must not show it
    declared = declared_options(config)
    known = {option.java: option for option in declared if option.java is not None}
    known |= {option.name: option for option in declared}
    found: dict[str, Any] = {}
    faults: list[str] = []
    security = {name: text for name, text in texts.items() if is_security_property(name)}
    others = [name for name in texts if name not in security]
    if security.keys() == {"security.protocol"} or _names_sasl(others, security):
        # The rest is said under the client's own names.
        found |= {
            _ALIKE[name]: text.reveal_text().strip().upper() for name, text in security.items()
        }
    elif security:
        try:
            found.update(client_options(security))
        except KafkaConfigurationError as error:
            faults.append(reason_of(error))
    for name in others:
        option = known.get(name)
        if option is not None:
            try:
                found[option.name] = hidden(option.name, _value(option, texts[name]))
            except ValueError as error:
                faults.append(f"{name}: {error}")
    if faults:
        raise KafkaConfigurationError("; ".join(faults))
    return found, [name for name in others if name not in known]


def _names_sasl(others: Sequence[str], security: Mapping[str, Secret]) -> bool:
    """Whether the user is given under the client's names, beside these properties of Java."""
    if not security.keys() <= _ALIKE.keys():
        return False
    return any(name.startswith("sasl_") for name in others)


def _value(option: Option, given: Secret) -> object:
    """Return the text as a value of the option's type. Raises: ValueError with the remedy."""
    kind = option.type
    if not kind.startswith(("bool", "int", "Literal", "str")):
        raise ValueError("its value is a Python object, which a text cannot be")
    text = given.reveal_text()
    if kind.endswith("| None") and text.strip().lower() == "none" and "'none'" not in kind:
        return None
    if kind.startswith("bool"):
        if text.strip().lower() not in _TRUTH:
            raise ValueError(f"{quoted(text)} is neither true nor false")
        return _TRUTH[text.strip().lower()]
    if kind.startswith("int"):
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"{quoted(text)} is not a whole number") from None
    if option.name == "acks" and text.strip().lstrip("-").isdigit():
        return int(text)
    return text


__all__ = ["options_from_text"]
