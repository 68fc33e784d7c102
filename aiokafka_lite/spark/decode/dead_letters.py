"""Owns what a dead letter is: the record as it was, with headers that say where it came from and
what was wrong, under the names that Kafka Connect gives them.

Plain: it makes expressions of Spark's SQL. A row has the columns of a read, the value as `raw`, and
`error`, a struct of class and message.
"""

from typing import Final

PREFIX: Final = "__connect.errors."
STAGE: Final = "VALUE_CONVERTER"
"""Connect's word for turning bytes into a value."""
_HEADER: Final = "struct<key:string,value:binary>"


def dead_letter_headers(name: str) -> str:
    """Return the expression of a dead letter's headers: the record's own, then ours. `name` is that
    of the job. Source: KIP-298.
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
    """Return the expression of a condition that is true for every row without error, and ends the
    query at a row with one."""
    place = "topic, '-', string(partition), ' offset ', string(offset)"
    said = (
        f"concat('the value of ', {place}, ' cannot be decoded: ', error.class, ': ',"
        " error.message, '; set dead_letter_topic to put such records aside')"
    )
    return f"if(error is null, true, raise_error({said}))"


def quoted(text: str) -> str:
    """Return a text as SQL has it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


__all__ = ["PREFIX", "STAGE", "dead_letter_headers", "quoted", "refusal"]
