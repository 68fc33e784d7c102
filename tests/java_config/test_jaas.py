"""The text of sasl.jaas.config: one login module with its options, as Java reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.jaas import parse_jaas

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def test_the_module_and_its_options_are_read() -> None:
    entry = parse_jaas(f'{SCRAM} required username="alice" password="se\\"cr;et" tokenauth=true;')
    assert entry.module == "ScramLoginModule"
    assert entry.text("username") == "alice"
    assert entry.text("password") == 'se"cr;et'
    assert entry.flag("tokenauth")
    assert entry.text("serviceName") is None


def test_lines_comments_and_single_quotes_are_read_as_by_java() -> None:
    text = f"""
        {SCRAM} REQUIRED // who
          username='alice' /* and
          with */ password=plain-word.1
        ;
    """
    entry = parse_jaas(text)
    assert (entry.text("username"), entry.text("password")) == ("alice", "plain-word.1")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\r")))
def test_any_password_survives_its_quotation(password: str) -> None:
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    assert parse_jaas(f'{SCRAM} required password="{quoted}";').text("password") == password


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "class of a login module is missing"),
        (f"{SCRAM}", "flag `required` is missing"),
        (f"{SCRAM} username=hunter2;", "no flag"),
        (f'{SCRAM} required password="hunter2"', "does not end with `;`"),
        (f'{SCRAM} required password="hunter2;', "quotation mark is not closed"),
        (f"{SCRAM} required password hunter2;", "option 'password' is not followed by `=`"),
        (f"{SCRAM} required password=;", "option 'password' has no value"),
        (f"{SCRAM} required password=hunter2 password=hunter2;", "'password' is there twice"),
        (f"{SCRAM} required; {SCRAM} required password=hunter2;", "one login module"),
    ],
)
def test_a_text_without_the_form_is_explained_without_its_values(text: str, what: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=what) as raised:
        parse_jaas(text)
    assert "hunter2" not in str(raised.value)
    assert "PlainLoginModule required" in str(raised.value)


def test_an_entry_does_not_show_its_values() -> None:
    assert "hunter2" not in repr(parse_jaas(f"{SCRAM} required password=hunter2;"))
