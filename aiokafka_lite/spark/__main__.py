"""`python -m aiokafka_lite.spark JOB --config job.toml`: runs a job on Spark, also under
spark-submit.

Names missing extras, then starts the command line.
"""

import importlib.util
import sys
from pathlib import Path

_EXTRAS = {"pyspark": "spark", "pyarrow": "spark", "typer": "cli"}


def main() -> None:
    """Run the command line; if packages are missing, name the extras that bring them and exit
    with 2.
    """
    missing = [name for name in _EXTRAS if importlib.util.find_spec(name) is None]
    if missing:
        extras = ",".join(dict.fromkeys(_EXTRAS[name] for name in missing))
        sys.stderr.write(
            f"the jobs need {' and '.join(missing)}: pip install 'aiokafka-lite[{extras}]'\n"
        )
        sys.exit(2)
    # Imported here, after the check that its libraries are installed.
    from aiokafka_lite.spark.jobs.program.job_command import app  # noqa: PLC0415

    app(prog_name="python -m aiokafka_lite.spark")


if __name__ == "__main__":
    # spark-submit runs a file and puts its folder first on the path. This folder has module names
    # that other packages have, too.
    here = Path(__file__).resolve().parent
    sys.path[:] = [each for each in sys.path if Path(each).resolve() != here or not each]
    main()


__all__ = ["main"]
