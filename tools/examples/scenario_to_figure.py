#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""From a scenario to a figure: the queue of a 4:1 incast for several values of Kmax.

    tools/examples/scenario_to_figure.py [DIR]

Writes kmax.pdf, kmax.csv and the folder of each run into DIR (default quench-example). Editors that know "# %%" run it cell by cell, like
a notebook. Copy it, and change the scenario, the settings and the quantities.
"""
# %% The package, and what to run
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import quench  # noqa: E402

SCENARIO = ROOT / "config" / "incast-4to1.ini"
KMAX_KB = (50, 100, 200, 400)
LAB = os.environ.get("QUENCH_LAB", quench.lab.LAB)
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "quench-example")

# %% A run for each Kmax, two at a time
runs = {}
for pair in (KMAX_KB[:2], KMAX_KB[2:]):
    started = {kb: quench.start(SCENARIO, {"wred.Kmax": f"{kb}KB", "fabric.measure_from_ns": "30ms"}, seed=1, duration="50ms", threads=1,
                                out=OUT / f"{kb}KB", lab=LAB) for kb in pair}
    runs |= {kb: one.wait() for kb, one in started.items()}

# %% Numbers: results of a run, and columns of its time series
mean_kb, p99_kb = ([run.results["bottleneck"][f"queue_{what}_bytes"] / 1e3 for run in runs.values()] for what in ("mean", "p99"))
np.savetxt(OUT / "kmax.csv", np.column_stack((KMAX_KB, mean_kb, p99_kb)), "%g", ",", header="Kmax_KB,queue_mean_KB,queue_p99_KB", comments="")

# %% The figure: a column of a paper, text as text
plt.rcParams |= {"pdf.fonttype": 42, "font.size": 8, "axes.spines.top": False, "axes.spines.right": False}
figure, (left, right) = plt.subplots(1, 2, figsize=(3.35, 1.8), layout="constrained")
for (kb, run), shade in zip(runs.items(), plt.cm.viridis(np.linspace(0.1, 0.8, len(runs)))):
    queue = run.bottleneck()
    measured = queue.ms() >= 30
    left.plot(queue.ms()[measured], queue["queue_bytes"][measured] / 1e3, color=shade, lw=0.8, label=f"{kb} KB")
left.set(xlim=(30, 50), ylim=(0, None), xlabel="time (ms)", ylabel="queue (KB)")
left.legend(title="Kmax", frameon=False, fontsize=6, title_fontsize=6)
right.plot(KMAX_KB, mean_kb, "o-", ms=3, color="black", lw=0.8, label="mean")
right.plot(KMAX_KB, p99_kb, "o:", ms=3, color="black", lw=0.8, label="p99")
right.set(xlim=(0, None), ylim=(0, None), xlabel="Kmax (KB)", ylabel="queue (KB)")
right.legend(frameon=False, fontsize=6)
figure.savefig(OUT / "kmax.pdf", metadata={"CreationDate": None})
print(OUT / "kmax.pdf")
