"""Runs the command line in a process of its own, also at a terminal."""

import os
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

COMMAND = (sys.executable, "-W", "error", "-m", "aiokafka_lite")
_AT_THE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


@contextmanager
def started(*arguments: str, address: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command with open pipes on all three sides."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": address},
        bufsize=0,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def at_a_terminal(*arguments: str, address: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A command whose terminal is a new one; yields the process and the keyboard's end of it.

    Standard output is the terminal; standard error is a pipe.
    """
    keyboard, terminal = os.openpty()
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    process = subprocess.Popen(
        [sys.executable, "-c", _AT_THE_TERMINAL, *COMMAND[1:], *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": address, "TERM": "xterm"},
    )
    os.close(terminal)
    with process:
        try:
            yield process, keyboard
        finally:
            process.kill()
            os.close(keyboard)
