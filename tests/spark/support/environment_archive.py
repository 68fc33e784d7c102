"""An environment with this package as an archive, as venv-pack makes it."""

import importlib.util
import sys
import tarfile
import venv
from pathlib import Path

from tests.support.documents import ROOT

PACKAGES = ("anyio", "cramjam", "idna", "pyarrow", "typing_extensions")


def pack_environment(archive: Path) -> None:
    """Pack what venv-pack packs: an environment whose interpreter is a link to the one each node
    has.
    """
    home = archive.parent / "made"
    venv.create(home, symlinks=True)
    packages = home / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    found = [importlib.util.find_spec(name) for name in PACKAGES]
    origins = [Path(spec.origin or "") for spec in found if spec is not None]
    with tarfile.open(archive, "w:gz", compresslevel=1) as into:
        for each in home.iterdir():
            into.add(each, each.name)
        for each in [ROOT / "aiokafka_lite" / "__init__.py", *origins]:
            what = each.parent if each.name == "__init__.py" else each
            into.add(what, packages.relative_to(home) / what.name)
