"""What is released: the sdist and the wheels made of it, built, installed and used.

Nothing is downloaded: the build uses the tools that are installed, and the environment a wheel is
tried in sees copies of its declared dependencies and of nothing else.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from aiokafka_lite.native import TYPED
from tests.support.twins import NOT_BUILT, not_built

ROOT = Path(__file__).parents[2]
SMOKE = Path(__file__).with_name("wheel_smoke.py")
FOLDERS = (".ci", "aiokafka_lite", "benchmarks", "docs", "examples", "tests", "tools")
FILES = ("CHANGELOG.md", "DESIGN.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md")
SETTINGS = ("mkdocs.yml", "pyproject.toml", "setup.py")
GENERATED = (".c", ".so", ".pyd", ".pyc")
LEAVES_BYTES = 6_260_000  # docs/release.md says so
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")

# Compilers take their time on busy machines; one process of the suite builds for all tests.
pytestmark = [
    pytest.mark.packaging,
    pytest.mark.timeout(900),
]


def python(
    *arguments: str, cwd: Path, interpreter: Path | str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run an interpreter there, this one if none is given, with only those of our variables."""
    ours = ("AIOKAFKA_LITE_PURE", "AIOKAFKA_LITE_REQUIRE_NATIVE", "CC", "PYTHONPATH")
    inherited = {name: text for name, text in os.environ.items() if name not in ours}
    return subprocess.run(
        [str(interpreter), *arguments],
        cwd=cwd,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def build(kind: str, source: Path, into: Path, **environment: str) -> Path:
    """Return the sdist or wheel built from a source folder; the compiler's last words if none."""
    done = python(
        *("-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(into), str(source)),
        cwd=into,
        **environment,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    (made,) = into.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: a build leaves files where it works."""
    copy = tmp_path_factory.mktemp("checkout")
    for path in checked_in():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, copy / path)
    return build("sdist", copy, tmp_path_factory.mktemp("sdist"))


def checked_in() -> set[str]:
    """Paths of a checkout's files, without what a build or a run leaves there.

    Other processes write bytecode meanwhile, first under another suffix.
    """
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.is_file())
    paths = {file.relative_to(ROOT).as_posix() for file in files if file.suffix not in GENERATED}
    left_out = ("/.", "/__pycache__/")
    files_of_folders = {path for path in paths if not any(part in path for part in left_out)}
    return {*FILES, *SETTINGS, *files_of_folders}


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist's files: wheels are built from what is released, not from the checkout."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


@pytest.fixture(scope="module")
def pure_wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As on a machine without a compiler."""
    return build("wheel", unpacked, tmp_path_factory.mktemp("pure"), CC="false")


@pytest.fixture(scope="module")
def native_wheel(
    unpacked: Path, pure_wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """After the pure one, whose translation to C it finds done."""
    unhurried = {"CFLAGS": "-O0"}  # it is about what is in the wheel, not how fast it runs
    wheel = build("wheel", unpacked, tmp_path_factory.mktemp("native"), **unhurried)
    if not any(name.endswith(SUFFIX) for name in names(wheel)):
        if os.environ.get("CI") == "true":
            pytest.fail("CI must build the native leaves")
        pytest.skip(NOT_BUILT)
    return wheel


def names(archive: Path) -> set[str]:
    """Paths in an sdist, without its own folder, or in a wheel."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return set(wheel.namelist())
    with tarfile.open(archive) as sdist:
        return {name.partition("/")[2] for name in sdist.getnames()}


def sources(*suffixes: str) -> set[str]:
    files = (ROOT / "aiokafka_lite").rglob("*")
    return {file.relative_to(ROOT).as_posix() for file in files if file.suffix in suffixes}


def test_sdist_holds_every_file_of_a_checkout_and_nothing_generated(sdist: Path) -> None:
    """A distributor builds, tests, and makes the docs from it."""
    inside = names(sdist)
    assert checked_in() <= inside
    assert not {name for name in inside if name.endswith(GENERATED)}


def test_suite_runs_from_the_sdist(unpacked: Path) -> None:
    """Folders of it, in pure Python: nothing is compiled there yet. They have the tests of most of
    the `.py` that are compiled as they are.
    """
    folders = ("tests/codec", "tests/producer/accumulator", "tests/producer/batch")
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *folders)
    done = python(*command, cwd=unpacked, CI="")  # where CI is set, a missing leaf is a failure
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout


def test_pure_wheel_holds_python_only(pure_wheel: Path) -> None:
    inside = {name for name in names(pure_wheel) if ".dist-info/" not in name}
    assert inside == sources(".py") | {"aiokafka_lite/py.typed"}


def test_native_wheel_has_every_leaf_and_not_its_source(native_wheel: Path) -> None:
    inside = {name for name in names(native_wheel) if ".dist-info/" not in name}
    typed = {f"{name.replace('.', '/')}.py" for name in TYPED}
    leaves = {source.rpartition(".")[0] + SUFFIX for source in sources(".pyx") | typed}
    assert inside == sources(".py") | {"aiokafka_lite/py.typed"} | leaves


@pytest.mark.skipif(sys.platform != "linux", reason="GNU's linker strips them")
def test_native_leaves_of_a_wheel_are_stripped(native_wheel: Path) -> None:
    with zipfile.ZipFile(native_wheel) as wheel:
        leaves = {name: wheel.read(name) for name in wheel.namelist() if name.endswith(SUFFIX)}
    for name, leaf in leaves.items():
        assert b".dynsym" in leaf, name
        assert b".symtab" not in leaf, name
        assert b".debug_" not in leaf, name


@pytest.mark.skipif(sys.platform != "linux", reason="GNU's linker strips them")
def test_native_leaves_take_no_more_than_their_budget() -> None:
    """Those beside the sources are optimized as a release is. Without optimization, those of
    Python 3.12 and newer have a copy of each short function of the interpreter's headers.
    """
    typed = {f"{name.replace('.', '/')}.py" for name in TYPED}
    built = [ROOT / (name.rpartition(".")[0] + SUFFIX) for name in sources(".pyx") | typed]
    if not all(leaf.exists() for leaf in built):
        not_built("the extensions of this interpreter beside their sources")
    sizes = {leaf.name: leaf.stat().st_size for leaf in built}
    assert sum(sizes.values()) <= LEAVES_BYTES, sizes


def test_extra_for_everything_leaves_spark_out() -> None:
    """PySpark is 450 MB, of no use without Java. Every other extra of the package is in it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    assert "spark" not in everything.extras
    assert everything.extras <= extras.keys()


def test_required_leaf_that_does_not_build_is_an_error(
    unpacked: Path, pure_wheel: Path, tmp_path: Path
) -> None:
    """With the translation to C done, and nothing compiled yet."""
    copy = shutil.copytree(unpacked, tmp_path / "copy", ignore=shutil.ignore_patterns("build"))
    done = python(
        *("-m", "build", "--wheel", "--no-isolation", "--outdir", "out", str(copy)),
        cwd=tmp_path,
        CC="false",
        AIOKAFKA_LITE_REQUIRE_NATIVE="1",
    )
    assert done.returncode != 0
    assert "false" in done.stdout + done.stderr
    assert not list((tmp_path / "out").glob("*.whl"))


def top_level(name: str) -> Iterable[Path]:
    """The modules and folders of an installed distribution."""
    installed = distribution(name)
    files = installed.files or []
    roots = {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}
    return [Path(str(installed.locate_file(root))) for root in sorted(roots)]


def declared_dependencies(requirements: Iterable[str]) -> set[str]:
    """Names of what those requirements bring, and of what that brings."""
    found: set[str] = set()
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            found.add(requirement.name)
            found |= declared_dependencies(distribution(requirement.name).requires or [])
    return found


def installed(wheel: Path, folder: Path) -> Path:
    """Install a wheel, with copies of the dependencies it declares; return the interpreter."""
    venv.create(folder, symlinks=os.name != "nt")  # as `python -m venv`
    (site,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/*/site-packages")
    interpreter = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = ("-m", "pip", "--python", str(interpreter), "install", "--no-index", "--no-deps")
    done = python(*pip, "--disable-pip-version-check", str(wheel), cwd=folder)
    assert done.returncode == 0, done.stderr
    (dist_info,) = site.glob("aiokafka_lite-*.dist-info")
    for name in declared_dependencies(PathDistribution(dist_info).requires or []):
        for path in top_level(name):
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, site / path.name)
    return interpreter


@pytest.mark.parametrize("kind", ["pure", "native"])
def test_wheel_works_in_an_empty_environment(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    interpreter = installed(request.getfixturevalue(f"{kind}_wheel"), tmp_path / "venv")
    done = python("-W", "error", str(SMOKE), kind, cwd=tmp_path, interpreter=interpreter)
    assert done.returncode == 0, done.stderr


def test_releases_are_tried_with_the_same_program() -> None:
    """cibuildwheel's test command, which runs on machines we do not have."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        command = tomllib.load(file)["tool"]["cibuildwheel"]["test-command"]
    assert command == f"python -W error {{project}}/{SMOKE.relative_to(ROOT).as_posix()} native"


def test_a_wheel_is_made_for_each_python_that_the_package_names() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        settings = tomllib.load(file)
    begins = "Programming Language :: Python :: 3."
    named = {each for each in settings["project"]["classifiers"] if each.startswith(begins)}
    made = settings["tool"]["cibuildwheel"]["build"].split()
    assert {f"cp3{each.removeprefix(begins)}-*" for each in named} == set(made)
