"""The files that the manual of Spark shows, for the tests of the jobs that they are for."""

import re

from tests.support.documents import SPARK


def manual_file(name: str) -> str:
    """The block whose first line is a comment with that name."""
    pattern = rf"```\w+\n((?:#|--) {re.escape(name)}\b.*?)```"
    (block,) = re.findall(pattern, SPARK.read_text(), re.DOTALL)
    return str(block)
