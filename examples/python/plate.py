"""Heat in a plate: each PE has a band of rows and puts its edge rows into its neighbours' halos, counted where they land.

    python -m lateral run -n 4 plate.py [PICTURE.png]

With a file's name and Matplotlib, PE 0 draws the plate at three times.
"""
import sys

import numpy as np

import lateral.shmem as shmem

ROWS, COLUMNS, STEPS, SHOWN = 120, 120, 600, (0, 100, 600)


def draw(states, npes, name):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot
    grey = "#808080"                                      # reads on a light page and on a dark one
    plot.rcParams.update({"text.color": grey, "axes.labelcolor": grey, "axes.edgecolor": grey, "xtick.color": grey, "ytick.color": grey})
    figure, axes = plot.subplots(1, len(states), figsize=(9, 3.2), sharey=True, layout="constrained")
    for axis, (step, state) in zip(axes, states.items()):
        image = axis.imshow(state, cmap="cividis", vmin=0, vmax=100)
        axis.set_title(f"after {step} steps")
        axis.set_xlabel("column")
        for pe in range(1, npes):
            axis.axhline(pe * len(state) / npes - 0.5, color="white", linewidth=0.6, linestyle="--")
    axes[0].set_ylabel(f"row (dashed: bands of {npes} PEs)")
    figure.colorbar(image, ax=axes, label="temperature (°C)")
    figure.savefig(name, dpi=120, transparent=True)


with shmem.job():
    me, npes = shmem.my_pe(), shmem.n_pes()
    rows = ROWS // npes
    plates = [shmem.zeros((rows + 2, COLUMNS)) for _ in range(2)]    # rows 0 and -1 are the halo
    whole, total, mine = shmem.zeros((npes * rows, COLUMNS)), shmem.zeros(1), shmem.zeros(1)
    upper, lower = shmem.Counter(), shmem.Counter()                  # of the rows that have come from above and from below
    y, x = np.mgrid[me * rows:(me + 1) * rows, 0:COLUMNS]
    plates[0][1:-1] = 100.0 * ((x - COLUMNS / 3)**2 + (y - ROWS / 3)**2 < 400)
    states = {}
    for step in range(STEPS + 1):
        now, new = plates[step % 2], plates[1 - step % 2]
        if step in SHOWN:
            shmem.fcollect(whole, now[1:-1])
            states[step] = whole.copy()
        if me > 0:
            lower.put(now[-1], now[1], me - 1)                       # my first row, below the last one of the PE above
        if me < npes - 1:
            upper.put(now[0], now[-2], me + 1)
        if me > 0:
            upper.consume(1)                                         # waits until the row is here; no barrier, no flag
        else:
            now[0] = now[1]                                          # no heat leaves the plate
        if me < npes - 1:
            lower.consume(1)
        else:
            now[-1] = now[-2]
        wide = np.pad(now[1:-1], ((0, 0), (1, 1)), mode="edge")
        new[1:-1] = now[1:-1] + 0.2 * (now[:-2] + now[2:] + wide[:, :-2] + wide[:, 2:] - 4 * now[1:-1])
    mine[0] = plates[STEPS % 2][1:-1].mean() / npes
    shmem.reduce(total, mine, "sum")
    if me == 0:
        print(f"mean {total[0]:.3f}, it began with {states[0].mean():.3f}, hottest {states[STEPS].max():.1f}")
        if len(sys.argv) > 1:
            draw(states, npes, sys.argv[1])
