"""`python -m aiokafka_lite` and the script `aiokafka-lite`: start the command line."""

import importlib.util
import sys


def main() -> None:
    """Run the command line; without typer and rich only `info`, and otherwise name the extra that
    brings them and exit with 2.
    """
    missing = [name for name in ("typer", "rich") if importlib.util.find_spec(name) is None]
    if missing and sys.argv[1:] == ["info"]:
        # Imported here, as it imports both clients.
        from aiokafka_lite.cli.installation import parts  # noqa: PLC0415

        sys.stdout.writelines(f"{name:<45}{text}\n" for name, text in parts())
        return
    if missing:
        sys.stderr.write(
            f"the command line needs {' and '.join(missing)}: pip install 'aiokafka-lite[cli]'\n"
        )
        sys.exit(2)
    # Imported here, after the check that typer and rich are installed.
    from aiokafka_lite.cli.app import app  # noqa: PLC0415

    app(prog_name="aiokafka-lite")


if __name__ == "__main__":
    main()


__all__ = ["main"]
