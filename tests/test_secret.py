"""A Secret gives its value to `reveal` alone, and shows it nowhere."""

import copy
import dataclasses
import json
import logging
import pickle
import traceback
from typing import Any

import pytest

from aiokafka_lite.secret import HIDDEN, Secret

VALUE = "p4ssw\u00f6rd"


@dataclasses.dataclass(frozen=True)
class Options:
    password: Secret


def refuse(secret: Secret) -> None:
    raise ValueError(secret)


def texts_of(secret: Secret) -> list[str]:
    """Every way by which a value becomes text without `reveal`."""
    record = logging.LogRecord("a", 10, "b", 1, "%s %r", (secret, secret), None)
    try:
        refuse(secret)
    except ValueError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True).format()
        trace = "".join(shown)
    return [
        repr(secret),
        str(secret),
        f"{secret} {secret:>30}",
        "%s %r" % (secret, secret),  # noqa: UP031 - one of the ways
        repr([secret]),
        repr(Options(secret)),
        repr(dataclasses.asdict(Options(secret))),
        record.getMessage(),
        json.dumps({"a": secret}, default=repr),
        trace,
    ]


@pytest.mark.parametrize("value", [VALUE, VALUE.encode()])
def test_only_reveal_gives_the_value(value: str | bytes) -> None:
    secret = Secret(value)
    assert secret.reveal() == value
    assert secret.reveal_text() == VALUE
    assert secret.reveal_bytes() == VALUE.encode()
    for text in texts_of(secret):
        assert "p4ssw" not in text
    assert HIDDEN in repr(secret)
    assert str(secret) == HIDDEN


def test_secrets_are_equal_if_their_bytes_are_and_never_equal_to_a_plain_value() -> None:
    assert Secret(VALUE) == Secret(VALUE.encode()) == Secret(Secret(VALUE))
    assert hash(Secret(VALUE)) == hash(Secret(VALUE.encode()))
    assert Secret(VALUE) != Secret(VALUE + "x")
    assert Secret("\ud800") == Secret("\ud800")
    for plain in (VALUE, VALUE.encode(), None):
        assert Secret(VALUE) != plain
    assert bool(Secret("x"))
    assert not bool(Secret(""))


def test_what_utf_8_cannot_encode_is_known_before() -> None:
    assert Secret(VALUE).is_encodable
    assert Secret(VALUE.encode()).is_encodable
    assert not Secret("\ud800").is_encodable
    assert not Secret(b"\xff").is_encodable


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_the_error_says_what_to_do(protocol: int) -> None:
    with pytest.raises(TypeError, match="environment variable or the path of a file") as caught:
        pickle.dumps(Options(Secret(VALUE)), protocol)
    assert VALUE not in str(caught.value)


def test_copies_are_the_same_object() -> None:
    secret = Secret(VALUE)
    assert copy.copy(secret) is secret
    assert copy.deepcopy([secret])[0] is secret


def test_a_secret_cannot_be_changed() -> None:
    secret: Any = Secret(VALUE)
    with pytest.raises(AttributeError, match="make another one"):
        secret._value = "other"
    with pytest.raises(AttributeError, match="make another one"):
        del secret._value
    assert secret.reveal() == VALUE


def test_another_type_is_refused_by_its_name_alone() -> None:
    wrong: Any = 73_217
    with pytest.raises(TypeError, match="not int") as caught:
        Secret(wrong)
    assert "73217" not in str(caught.value)
