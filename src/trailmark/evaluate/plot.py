"""Goals found against pages fetched, all strategies in one picture, one panel a site and goal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from trailmark.errors import UsageError
from trailmark.evaluate.measures import Outcome


def plot(outcomes: Sequence[Outcome], path: Path) -> None:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra

        mpl.use("Agg")
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise UsageError("Plots need an extra: pip install 'trailmark[plot]'.") from None
    panels = list(dict.fromkeys((each.goal, each.site) for each in outcomes))
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5 * columns, 3.6 * rows), squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for (goal, site), axis in zip(panels, axes.flat, strict=False):
        for each in outcomes:
            if (each.goal, each.site) == (goal, site):
                axis.plot(range(1, len(each.curve) + 1), each.curve, label=each.strategy, linewidth=1.4)
        axis.set_title(f"{site}: {goal}", fontsize=10)
        axis.set_xlabel("pages fetched")
        axis.set_ylabel("goals found")
    axes.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
