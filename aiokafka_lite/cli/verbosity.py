"""`-v`: what the library logs goes to stderr."""

import logging
import sys
from typing import Annotated

import typer

Verbose = Annotated[
    int,
    typer.Option(
        "--verbose", "-v", count=True, show_default=False, help="Log to stderr; -vv: every detail."
    ),
]


def log_to_stderr(times: int) -> None:
    """Log to stderr from the level INFO on, or DEBUG if `times` is more than 1; 0: not at all."""
    if times:
        logging.basicConfig(
            stream=sys.stderr,
            level=logging.INFO if times == 1 else logging.DEBUG,
            format="%(asctime)s %(levelname)s %(name)s: %(message)s",
            force=True,
        )


__all__ = ["Verbose", "log_to_stderr"]
