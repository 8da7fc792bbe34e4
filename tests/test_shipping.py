"""What is shipped beside the package: container files, workflow, documentation site, completion."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from wayhound.cli import run

ROOT = Path(__file__).parent.parent
NOBODY = 65534


def read_yaml(name: str) -> dict[str, object]:
    content = yaml.safe_load((ROOT / name).read_text())
    assert isinstance(content, dict)
    return content


def test_the_workflow_runs_make_test_on_every_version_that_is_declared() -> None:
    workflow = (ROOT / ".github/workflows/test.yml").read_text()
    assert yaml.safe_load(workflow)["jobs"]["test"]["steps"][-1] == {"run": "make test"}
    declared = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert yaml.safe_load(workflow)["jobs"]["test"]["strategy"]["matrix"]["python"] == declared


def test_the_workflow_runs_the_tests_with_the_lowest_and_the_newest_libraries() -> None:
    job = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]["versions"]
    assert job["steps"][-1] == {"run": "make test-${{ matrix.libraries }}"}
    targets = [f"test-{run['libraries']}:" for run in job["strategy"]["matrix"]["include"]]
    assert targets == ["test-lowest:", "test-newest:"]
    assert all(f"\n{target}" in (ROOT / "Makefile").read_text() for target in targets)


def test_the_services_run_commands_that_exist_with_their_options() -> None:
    services = read_yaml("compose.yaml")["services"]
    assert isinstance(services, dict)
    cluster = {"postgres", "objects", "bucket", "head", "node", "command"}
    assert set(services) == {"portal", "studio", "worker"} | cluster
    for name in ("portal", "studio", "worker", "command"):
        service = services[name]
        command, *options = service["command"]
        named = [word for word in options if word.startswith("--")]
        help_text = subprocess.run(
            [sys.executable, "-m", "wayhound", command, "--help"], capture_output=True, text=True, check=True
        ).stdout
        assert all(option in help_text for option in named)
    assert all(services[name]["profiles"] == ["cluster"] for name in cluster), (
        "a plain `up` starts none of them"
    )


def test_the_nodes_of_the_cluster_find_their_head_database_and_object_store() -> None:
    services = read_yaml("compose.yaml")["services"]
    assert isinstance(services, dict)
    head, node = services["head"], services["node"]
    port = next(word for word in head["command"] if word.startswith("--port=")).removeprefix("--port=")
    assert f"--address=head:{port}" in node["command"]
    assert "--num-cpus=0" in head["command"], "the head only coordinates"
    documented = (ROOT / "docs/cluster.md").read_text()
    login = services["postgres"]["environment"]
    assert f"postgresql://{login['POSTGRES_USER']}:{login['POSTGRES_PASSWORD']}@postgres/" in documented
    bucket = re.search(r"-name (\w+)", services["bucket"]["entrypoint"][-1])
    assert bucket is not None
    assert f"s3://{bucket[1]}/" in documented
    for name in ("head", "node", "command"):
        assert services[name]["environment"]["AWS_ENDPOINT_URL"].startswith("http://objects:")
    assert set(read_yaml("compose.yaml")["volumes"]) == {"postgres", "objects"}  # type: ignore[call-overload]


def test_the_image_runs_as_a_user_without_rights() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert "USER wayhound" in lines
    assert lines.index("USER wayhound") < next(
        number for number, line in enumerate(lines) if line.startswith("ENTRYPOINT")
    )
    copied = [
        name
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    ]
    assert copied
    assert all((ROOT / name).exists() for name in copied)


def pages_of(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    assert isinstance(nav, list | dict)
    parts = list(nav.values()) if isinstance(nav, dict) else nav
    return [page for part in parts for page in pages_of(part)]


def test_every_page_of_the_documentation_is_in_the_site() -> None:
    listed = pages_of(read_yaml("mkdocs.yml")["nav"])
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_completes_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "_WAYHOUND_COMPLETE" in capsys.readouterr().out


def test_a_word_that_was_begun_is_completed() -> None:
    environment = os.environ | {
        "_WAYHOUND_COMPLETE": "bash_complete",
        "COMP_WORDS": "wayhound forage --allow",
        "COMP_CWORD": "2",
    }
    code = "import sys; from wayhound.cli import main; sys.argv = ['wayhound']; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "plain,--allow-private\n"


def nobody_may_run_python() -> bool:
    """True for root, if others can read the interpreter and its packages."""
    if os.getuid() != 0:
        return False
    command = [sys.executable, "-c", "import click"]
    try:
        return (
            subprocess.run(command, user=NOBODY, group=NOBODY, capture_output=True, check=False).returncode
            == 0
        )
    except OSError:
        return False


def test_an_installed_wheel_works_on_a_path_with_spaces_without_a_home(tmp_path: Path) -> None:
    """As another user than root, if we are root: nobody may write where it is installed."""
    folder = tmp_path / "path with spaces"
    wheels = tmp_path / "wheels"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(wheels), str(ROOT)], check=True)
    venv.create(folder / "env", symlinks=True, system_site_packages=False)
    [wheel] = wheels.glob("*.whl")
    python = folder / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, str(wheel)], check=True)
    packages = next((folder / "env" / "lib").glob("python*/site-packages"))
    # dependencies from this environment: the test needs no network
    for entry in (path for path in sys.path if path.endswith("site-packages")):
        (packages / "shared.pth").write_text(f"{entry}\n")
    workspace = folder / "my project"
    for path in (tmp_path, *tmp_path.parents):
        if path.is_relative_to(tmp_path.parent.parent):
            path.chmod(0o755)
    folder.chmod(0o777)
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "PYTHONPATH")}
    who = {"user": NOBODY, "group": NOBODY} if nobody_may_run_python() else {}
    for arguments in (["--version"], ["init", str(workspace)], ["status", "-w", str(workspace)], ["samples"]):
        done = subprocess.run(
            [str(folder / "env" / "bin" / "wayhound"), *arguments],
            env=environment, capture_output=True, text=True, check=False, cwd=folder, **who,  # type: ignore[call-overload]
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert (workspace / "wayhound.db").exists()
