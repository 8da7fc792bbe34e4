from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True)
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_holds_everything_that_the_package_reads_at_run_time(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("wayhound/")}
    source = ROOT / "src"
    needed = {
        str(path.relative_to(source))
        for path in (source / "wayhound").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == needed


def test_the_wheel_runs_from_a_folder_of_its_own(wheel: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path)]
    subprocess.run([*command, str(wheel)], check=True)
    ask = "import wayhound, wayhound.samples as s; print(wayhound.__file__, len(s.sample_web().sites))"
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {ask}"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    ).stdout
    assert said.startswith(str(tmp_path))
