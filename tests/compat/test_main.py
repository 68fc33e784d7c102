"""`python -m aiokafka_lite.compat program.py` runs a program that imports `aiokafka`."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import aiokafka, beside
from aiokafka.structs import TopicPartition
if __name__ == "__main__":
    print(TopicPartition.__module__, beside.HERE, *sys.argv[1:])
    sys.exit(3)
"""


def run(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "aiokafka_lite.compat", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=cwd,
    )


def test_a_program_has_its_arguments_its_neighbours_and_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "beside.py").write_text("HERE = 'beside'")
    by_path = run(str(tmp_path / "program.py"), "-x", "1", cwd=Path.cwd())
    by_name = run("-m", "program", "-x", "1", cwd=tmp_path)
    for done in (by_path, by_name):
        assert (done.stdout, done.returncode) == ("aiokafka_lite.model beside -x 1\n", 3), (
            done.stderr
        )


def test_a_wrong_call_says_how_it_is_used(tmp_path: Path) -> None:
    for arguments, said in {
        (): "usage:",
        ("-m",): "usage:",
        ("nothing.py",): "cannot run 'nothing.py': there is no such file",
        ("-m", "nothing"): "cannot run 'nothing': there is no such module",
        ("-m", "nothing.below"): "cannot run 'nothing.below': there is no such module",
    }.items():
        done = run(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert said in done.stderr


def test_help_is_no_error(tmp_path: Path) -> None:
    for option in ("-h", "--help"):
        done = run(option, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: python -m aiokafka_lite.compat program.py")


def test_a_package_that_lacks_a_module_says_which(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "__init__.py").write_text("import absent")
    done = run("-m", "service.run", cwd=tmp_path)
    assert "No module named 'absent'" in done.stderr, done.stderr
    assert "no such module" not in done.stderr
