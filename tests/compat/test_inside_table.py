"""The table of aiokafka's names is read by module."""

import subprocess
import sys

from aiokafka_lite.compat.inside_table import entries, module_paths


def test_a_module_has_entries_and_a_missing_one_has_none() -> None:
    assert "admin.client" in module_paths()
    assert entries("admin.client")["AlterConfigsRequest"].kind == "from"
    assert entries("no.such.module") == {}


def test_a_program_that_uses_none_of_the_names_loads_nothing_that_makes_them() -> None:
    program = (
        "import sys\n"
        "from aiokafka_lite.compat import install\n"
        "install()\n"
        "from aiokafka import AIOKafkaConsumer, AIOKafkaProducer\n"
        "import aiokafka.admin\n"
        "late = ('compat.inside', 'compat.wire', 'compat.requests', 'compat.distribution')\n"
        "print([name for name in late if f'aiokafka_lite.{name}' in sys.modules])\n"
        "print([name for name in ('anyio', 'importlib.metadata') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == "[]\n[]\n", done.stdout + done.stderr
