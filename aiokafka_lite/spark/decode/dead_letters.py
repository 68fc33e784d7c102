"""Builds dead letters: the unchanged record, plus headers for its source and its error.

The header names are Kafka Connect's. This file makes Spark SQL expressions. A row has the columns
of a read, the value as `raw`, and `error`, a struct of class and message. Does not wait.
"""

from typing import Final

from aiokafka_lite.workers.connect_headers import PREFIX

STAGE: Final = "VALUE_CONVERTER"
"""Connect's name for the stage that turns bytes into a value."""
_HEADER: Final = "struct<key:string,value:binary>"


def dead_letter_headers(name: str) -> str:
    """Return the expression of a dead letter's headers: the record's own, then the added ones.

    `name` is the job's name. Source: KIP-298.
    """
    facts = {
        "topic": "topic",
        "partition": "string(partition)",
        "offset": "string(offset)",
        "connector.name": quoted(name),
        "stage": quoted(STAGE),
        "exception.class.name": "error.class",
        "exception.message": "error.message",
    }
    ours = ", ".join(
        f"named_struct('key', '{PREFIX}{fact}', 'value', encode({text}, 'utf-8'))"
        for fact, text in facts.items()
    )
    return f"concat(coalesce(headers, cast(array() as array<{_HEADER}>)), array({ours}))"


def refusal() -> str:
    """Return the expression of a condition that is true for every row without an error.

    It ends the query at a row with one.
    """
    place = "topic, '-', string(partition), ' offset ', string(offset)"
    said = (
        f"concat('the value of ', {place}, ' cannot be decoded: ', error.class, ': ',"
        " error.message, '; set dead_letter_topic to put such records aside')"
    )
    return f"if(error is null, true, raise_error({said}))"


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


__all__ = ["STAGE", "dead_letter_headers", "quoted", "refusal"]
