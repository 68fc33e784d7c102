"""A password to set is not shown."""

import pytest

from aiokafka_lite.admin import ScramMechanism, UserScramCredentialUpsertion
from aiokafka_lite.secret import Secret


@pytest.mark.parametrize("password", ["pa55word", b"pa55word", Secret("pa55word")])
def test_no_text_shows_the_password(password: str | bytes | Secret) -> None:
    mechanism = ScramMechanism.SCRAM_SHA_256
    upsertion = UserScramCredentialUpsertion("alice", mechanism, 4096, password, b"sal7")
    for text in (repr(upsertion), str(upsertion), f"{upsertion}", repr([upsertion])):
        assert "pa55word" not in text
        assert "sal7" not in text
        assert "user='alice'" in text
    assert upsertion.password == password


def test_a_mechanism_of_a_newer_node_is_unknown() -> None:
    assert ScramMechanism(9) is ScramMechanism.UNKNOWN
