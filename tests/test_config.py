from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.config import SECTIONS, AgentConfig, Config, FetchConfig, ForageConfig, default_toml
from wayhound.errors import ConfigError

DOCS = Path(__file__).parents[1] / "docs" / "workspace.md"


def test_an_empty_file_means_the_defaults() -> None:
    assert Config.from_toml("") == Config()


def test_the_default_file_holds_every_setting_at_its_default() -> None:
    text = default_toml()
    assert Config.from_toml(text) == Config()
    for kind in SECTIONS.values():
        for setting in fields(kind):
            assert re.search(rf"^(# )?{setting.name} = ", text, re.MULTILINE)


def test_a_setting_that_is_commented_out_can_be_switched_on() -> None:
    text = default_toml().replace("# max_depth", "max_depth")
    assert Config.from_toml(text) == Config(forage=ForageConfig(max_depth=5))


def test_settings_are_read_by_section() -> None:
    text = """
    [agent]
    name = "Gazetteer"
    contact = "https://a.example/crawler"
    [fetch]
    delay_seconds = 2
    allow_private = true
    [forage]
    max_depth = 3
    """
    assert Config.from_toml(text) == Config(
        AgentConfig("Gazetteer", "https://a.example/crawler"),
        FetchConfig(delay_seconds=2, allow_private=True),
        ForageConfig(max_depth=3),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[fetch]\n\ndelay = 1", "line 3: delay is unknown in [fetch]; the settings are delay_seconds, "),
        ("[fetsch]", "line 1: [fetsch] is unknown; the sections are agent, fetch, forage, facts."),
        ("delay_seconds = 1", "line 1: delay_seconds must be in a section: agent, fetch, forage, facts."),
        ("[fetch]\ndelay_seconds = ''", "line 2: delay_seconds in [fetch] must be a number from 0 up"),
        ("[fetch]\ndelay_seconds = -1", "must be a number from 0 up, not -1."),
        ("[fetch]\ndelay_seconds = nan", "must be a number from 0 up, not nan."),
        ("[fetch]\ntotal_seconds = inf", "must be a number above 0, not inf."),
        ("[fetch]\ndelay_seconds = true", "must be a number from 0 up, not True."),
        ("[fetch]\nrespect_robots = 1", "must be true or false, not 1."),
        ("[fetch]\nread_seconds = 0", "must be a number above 0, not 0."),
        ("[fetch]\nmax_body_bytes = 1.5", "must be a whole number above 0, not 1.5."),
        ("[forage]\nbudget_per_site = true", "must be a whole number from 0 up, not True."),
        ("[forage]\nsites_at_once = 0", "must be a whole number above 0, not 0."),
        ("[agent]\nname = 'two words'", "must be letters, - and _, not 'two words'."),
        ("[agent]\ncontact = \"a\\r\\nX: y\"", "must be a URL or a mail address, not "),
        ("[fetch\n", "is not TOML: "),
        ("fetch.delay = 1", "wayhound.toml: delay is unknown in [fetch]"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_its_line_and_what_is_allowed(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        Config.from_toml(text)


@given(text=st.text())
def test_any_text_is_valid_or_a_config_error(text: str) -> None:
    with suppress(ConfigError):
        Config.from_toml(text)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml cannot be read: No such file"):
        Config.read(tmp_path / "gone.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"odd\.toml is not text in UTF-8"):
        Config.read(tmp_path / "odd.toml")


def test_settings_can_be_passed_to_another_process() -> None:
    config = Config(AgentConfig("Gazetteer"), forage=ForageConfig(budget_per_site=7))
    assert Config.from_json(json.dumps(asdict(config))) == config


def test_every_setting_is_documented_with_its_default() -> None:
    documented = DOCS.read_text("utf-8")
    for name, kind in SECTIONS.items():
        for setting in fields(kind):
            line = re.search(rf"^{setting.name} = (.*)$", default_toml(), re.MULTILINE)
            default = f"`{line[1]}`" if line else "none"
            assert f"| `{name}` | `{setting.name}` | {default} |" in documented
