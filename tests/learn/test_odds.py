from __future__ import annotations

import math
import subprocess
import sys

import pytest

from wayhound.learn.odds import log_odds


def test_log_odds_are_those_of_the_probability_within_its_bounds() -> None:
    assert log_odds(0.8, 1e-6) == pytest.approx(math.log(4))
    assert log_odds(0.5, 1e-6) == 0.0
    assert log_odds(1.0, 1e-4) == log_odds(0.99999, 1e-4) == pytest.approx(-log_odds(0.0, 1e-4))


def test_log_odds_are_loaded_without_numpy() -> None:
    program = "import sys, wayhound.learn.odds; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
