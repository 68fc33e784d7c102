"""The command `prepare`: adds byte code to the zips of PySpark on this machine, once."""

import zipfile
from pathlib import Path
from typing import Final

import typer

from aiokafka_lite.spark.process.pyspark_zips import add_byte_code, spark_home, zips_of

PREPARE: Final = "prepare"


def prepare(home: Path | None = None) -> int:
    """Add this interpreter's byte code to the zips in SPARK_HOME; return the exit code.

    A line for each zip goes to stdout. Doing it again is harmless.
    """
    home = spark_home() if home is None else home
    zips = [] if home is None else zips_of(home)
    if not zips:
        where = "this Python" if home is None else f"{home}/python/lib"
        typer.echo(
            f"there are no zips of PySpark in {where}: install it, or set SPARK_HOME", err=True
        )
        return 1
    for each in zips:
        try:
            count = add_byte_code(each)
        except (OSError, zipfile.BadZipFile) as error:
            typer.echo(f"{each}: {error}; run it as a user who may write there", err=True)
            return 1
        typer.echo(f"{each}: byte code of {count} files is added")
    return 0


__all__ = ["PREPARE", "prepare"]
