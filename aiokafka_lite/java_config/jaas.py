"""Reads the text of `sasl.jaas.config`: one login module with its options.

The text has the form `MODULE FLAG name=value name="value";`, as in Java. No error shows a value,
because values are passwords. Does not wait.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.secret import Secret

_FORM: Final = (
    'it has the form: org.apache.kafka.common.security.plain.PlainLoginModule required username="…"'
    ' password="…";'
)
_FLAGS: Final = ("required", "requisite", "sufficient", "optional")
_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<comment>//[^\n]*|/\*.*?\*/)
      | "(?P<quoted>(?:[^"\\\n]|\\.)*)"
      | '(?P<single>(?:[^'\\\n]|\\.)*)'
      | (?P<sign>[=;])
      | (?P<word>[^\s=;"']+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(frozen=True, slots=True)
class JaasEntry:
    """One login module and its options."""

    module: str
    """The class of the module, without its package."""
    options: dict[str, Secret] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """Return the option that has this name as text; None if it is absent."""
        found = self.options.get(name)
        return None if found is None else found.reveal_text()

    def flag(self, name: str) -> bool:
        """Return whether the option that has this name is "true"."""
        return (self.text(name) or "").strip().lower() == "true"


def parse_jaas(text: str) -> JaasEntry:
    """Return the one login module that `text` names.

    Raises: KafkaConfigurationError, which says where the text departs from the form.
    """
    tokens = _tokens(text)
    module = _next_word(tokens, "the class of a login module")
    flag = _next_word(tokens, "the flag `required`")
    if flag.lower() not in _FLAGS:
        raise _fault("the second word is no flag; write `required`")
    options: dict[str, Secret] = {}
    while tokens and tokens[0] != ("sign", ";"):
        name = _next_word(tokens, "the name of an option")
        if not tokens or tokens.pop(0) != ("sign", "="):
            raise _fault(f"option {quoted(name)} is not followed by `=` and a value")
        if not tokens or tokens[0][0] == "sign":
            raise _fault(f"option {quoted(name)} has no value")
        if name in options:
            raise _fault(f"option {quoted(name)} is there twice")
        options[name] = Secret(tokens.pop(0)[1])
    if not tokens:
        raise _fault("it does not end with `;`")
    if tokens[1:]:
        raise _fault("a client has one login module, and more text follows its `;`")
    return JaasEntry(module.rpartition(".")[2], options)


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return the tokens as (kind, text): sign, word or quoted."""
    found: list[tuple[str, str]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _fault("a quotation mark is not closed")
        at = match.end()
        kind = match.lastgroup
        if kind == "comment":
            continue
        if kind in ("quoted", "single"):
            found.append(("quoted", _unescaped(match[kind])))
        else:
            assert kind is not None
            found.append((kind, match[kind]))
    return found


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def _next_word(tokens: list[tuple[str, str]], what: str) -> str:
    if not tokens or tokens[0][0] != "word":
        raise _fault(f"{what} is missing")
    return tokens.pop(0)[1]


def _fault(what: str) -> KafkaConfigurationError:
    return KafkaConfigurationError(f"sasl.jaas.config: {what}; {_FORM}")


__all__ = ["JaasEntry", "parse_jaas"]
