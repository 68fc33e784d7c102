"""`-X name=value`: an option of a client. Its value may be a password, so it is hidden at once."""

from typing import Annotated, NamedTuple

import typer

from aiokafka_lite.cli.output import counted
from aiokafka_lite.secret import Secret


class ClientSetting(NamedTuple):
    """The name of an option, and its value as text."""

    name: str
    text: Secret


def parse_setting(pair: str) -> ClientSetting:
    """Return the parts of `name=value`. Raises: BadParameter without `=`; it shows no value."""
    if pair.find("=") < 1:
        length = len(pair)
        del pair  # the frames of the error must not show it
        raise typer.BadParameter(
            f"a text of {counted(length, 'character')} is not of the form name=value; it is not "
            "shown, because it may be a password"
        )
    name, _, text = pair.partition("=")
    return ClientSetting(name, Secret(text))


Settings = Annotated[
    list[ClientSetting] | None,
    typer.Option(
        "-X",
        parser=parse_setting,
        metavar="NAME=VALUE",
        help="An option of the client, name=value. The name may be Java's. Repeatable; of a "
        "name that comes twice, the last value counts, as in kcat.",
    ),
]

__all__ = ["ClientSetting", "Settings", "parse_setting"]
