"""Files of Java's Properties, as Kafka's own tools read them."""

from aiokafka_lite.java_config.properties_file import parse_properties


def test_names_and_values_are_separated_as_in_java() -> None:
    text = """
        # a comment
        ! another one
        linger.ms = 5
        acks:all
        client.id   my client
        empty=
        alone
        with\\ blank=1
        a=b=c
    """
    assert parse_properties(text) == {
        "linger.ms": "5",
        "acks": "all",
        "client.id": "my client",
        "empty": "",
        "alone": "",
        "with blank": "1",
        "a": "b=c",
    }


def test_a_backslash_continues_a_line_or_escapes() -> None:
    text = r"""
sasl.jaas.config=Module required \
    username="a" \
    password="\\\u00e9";
path=C\:\\x
"""
    assert parse_properties(text) == {
        "sasl.jaas.config": 'Module required username="a" password="\\é";',
        "path": "C:\\x",
    }


def test_the_last_value_counts_and_a_last_line_needs_no_end() -> None:
    assert parse_properties("a=1\r\na=2\\") == {"a": "2"}
