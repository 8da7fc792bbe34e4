from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from wayhound.documents.limits import ReadingLimits, run_limited
from wayhound.processes import child_environment
from wayhound.sandbox import sparse_environment


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def active() -> list[str]:
    return list(json.loads(run("from wayhound import sandbox; sandbox.main()"))["active"])


@pytest.fixture(scope="module", autouse=True)
def needs_kernel() -> None:
    if set(active()) != {"landlock", "seccomp"}:
        pytest.skip("This kernel has no Landlock or no seccomp.")


def test_a_confined_process_reaches_no_files_network_or_programs() -> None:
    assert json.loads(run("from wayhound import sandbox; sandbox.main()"))["succeeded"] == []


def test_what_is_tried_succeeds_without_confinement() -> None:
    tried = json.loads(
        run("import json; from wayhound.sandbox import attempts; print(json.dumps(attempts()))")
    )
    assert all(tried.values())


def test_only_the_folders_given_are_readable_and_writable(tmp_path: Path) -> None:
    for name in ("read", "write", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    code = f"""
from pathlib import Path
from wayhound.sandbox import confine_process
folder = Path({str(tmp_path)!r})
confine_process([str(folder / "read")], [str(folder / "write")])
for name in ("read", "write", "other"):
    for deed in (lambda: (folder / name / "file").read_text(), lambda: (folder / name / "new").write_text("x")):
        try:
            deed()
            print(name, "yes")
        except PermissionError:
            print(name, "no")
"""
    lines = ["read yes", "read no", "write yes", "write yes", "other no", "other no"]
    assert run(code).splitlines() == lines


def test_modules_that_are_imported_late_are_found() -> None:
    code = "from wayhound.sandbox import confine_process; confine_process(); print(b'\\xe9'.decode('cp1250'))"
    assert run(code) == "é"


def test_a_program_within_limits_cannot_read_what_it_was_not_given(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "work"
    secret.write_text("secret")
    folder.mkdir()
    code = run_limited(["cp", str(secret), "copy"], b"", ReadingLimits(), str(folder))
    assert code not in (0, None)
    assert run_limited(["sh", "-c", "cat > copy"], b"given", ReadingLimits(), str(folder)) == 0
    assert (folder / "copy").read_bytes() == b"given"


def test_secrets_of_the_environment_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "secret")
    assert "secret" not in sparse_environment().values()
