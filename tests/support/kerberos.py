"""A Kerberos realm for tests: one key distribution centre on 127.0.0.1, which needs no root.

All its files are in one folder. Clients and services find it by the variables of `environment`. It
needs MIT Kerberos (Debian: krb5-kdc, krb5-admin-server, krb5-user).
"""

import os
import shutil
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.testing.free_ports import server_ports

REALM: Final = "AIOKAFKA.TEST"
SERVICE: Final = f"kafka/localhost@{REALM}"
CLIENT: Final = f"alice@{REALM}"
READY_WITHIN_S: Final = 20.0
_PROGRAMS: Final = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_PLACES: Final = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))

_CLIENTS: Final = """\
[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
[domain_realm]
 localhost = {realm}
"""
_SERVER: Final = """\
[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/kadm5.acl
  max_life = 1h
 }}
"""


def missing_program() -> str | None:
    """Return the first program of MIT Kerberos that this machine lacks."""
    return next((name for name in _PROGRAMS if shutil.which(name, path=_PLACES) is None), None)


class KerberosRealm:
    """The realm `REALM`, with a keytab for the service and one for the client."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "krb5.conf"
        self.service_keytab = folder / "service.keytab"
        self.client_keytab = folder / "client.keytab"
        self._process: subprocess.Popen[bytes] | None = None
        self._held = ExitStack()

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of a client. Its tickets come from the client's keytab."""
        return {
            "KRB5_CONFIG": str(self.config),
            "KRB5CCNAME": f"FILE:{self.folder / 'tickets'}",
            "KRB5_CLIENT_KTNAME": f"FILE:{self.folder / 'none.keytab'}",
        }

    def log_in(self) -> None:
        """Fill the ticket cache, as a user does with `kinit`."""
        self._run("kinit", "-k", "-t", str(self.client_keytab), CLIENT)

    def __enter__(self) -> Self:
        (port,) = server_ports(1, self._held)
        values = {"realm": REALM, "port": port, "folder": self.folder}
        self.config.write_text(_CLIENTS.format(**values))
        (self.folder / "kdc.conf").write_text(_SERVER.format(**values))
        self._run("kdb5_util", "create", "-s", "-W", "-P", "of-the-database", "-r", REALM)
        for principal, keytab in ((SERVICE, self.service_keytab), (CLIENT, self.client_keytab)):
            self._run("kadmin.local", "-q", f"addprinc -randkey {principal}")
            self._run("kadmin.local", "-q", f"ktadd -k {keytab} {principal}")
        self._process = subprocess.Popen(
            [_path_of("krb5kdc"), "-n"],
            env=self._own_environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait_ready(port)
        self.log_in()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(READY_WITHIN_S)
        self._held.close()

    def _own_environment(self) -> dict[str, str]:
        return {
            **os.environ,
            **self.environment,
            "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
        }

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [_path_of(program), *arguments],
            env=self._own_environment(),
            capture_output=True,
            text=True,
            timeout=READY_WITHIN_S,
            check=False,
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"

    def _wait_ready(self, port: int) -> None:
        assert self._process is not None
        deadline = SYSTEM_CLOCK.monotonic() + READY_WITHIN_S
        while not _answers(port):
            assert SYSTEM_CLOCK.monotonic() < deadline, "krb5kdc does not listen"
            try:
                code = self._process.wait(0.02)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError(f"krb5kdc ended with exit code {code}")


def _path_of(program: str) -> str:
    path = shutil.which(program, path=_PLACES)
    assert path is not None, f"{program} is not installed"
    return path


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
