"""Common parts of all pictures of the reports: a figure, the style of its axes, and values by key. Without matplotlib
the reports have no pictures, and `there` says so once."""
try:
    from matplotlib.figure import Figure
except ImportError:
    Figure = None

OURS, FLOOR, PEERS = "#1f5fbf", "#404040", ["#d98a3d", "#7a9e5f", "#a6719c"]


class Chart:
    """Common to all pictures: values by key and a style."""

    def __init__(self, document):
        self.by_key = {line["key"]: line for line in document["lines"]}
        self.peers = document["peers"]

    def ours(self, key):
        line = self.by_key.get(key)
        return line["ours"] if line else None

    def floor(self, key):
        line = self.by_key.get(key)
        return line["floor"] if line else None

    def peer(self, key, name):
        line = self.by_key.get(key)
        return line["peers"][name]["median"] if line else None

    def dots(self, axes, keys, labels, title, unit):
        """Draws a dot for ours and for each peer, and a line for the floor. Logarithmic, because peers are far off."""
        series = [(title_of, PEERS[i % len(PEERS)], [self.peer(key, name) for key in keys])
                  for i, (name, title_of) in enumerate(self.peers.items())]
        series.append(("Lateral", OURS, [self.ours(key) for key in keys]))
        for name, colour, values in series:
            shown = [(x, value) for x, value in enumerate(values) if value]
            axes.plot([x for x, _ in shown], [value for _, value in shown], "o", color=colour, markersize=8, label=name)
        floors = [(x, self.floor(key)) for x, key in enumerate(keys) if self.floor(key)]
        for index, (x, value) in enumerate(floors):
            axes.hlines(value, x - 0.35, x + 0.35, color=FLOOR, linewidth=1.6, label="floor" if index == 0 else None)
        axes.set_yscale("log")
        axes.set_xticks(range(len(keys)), labels, rotation=30, ha="right")
        finish(axes, title, unit)


def finish(axes, title, unit):
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_ylabel(unit)
    axes.grid(axis="y", color="#d8d8d8", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


def there():
    """Returns True if matplotlib is there, else False after a line that says what to install."""
    if Figure is None:
        print("figures.py: no pictures without matplotlib; on Debian, apt-get install python3-matplotlib gives it")
    return Figure is not None


def panels(rows, columns, size):
    """Returns a figure and its axes, row after row."""
    figure = Figure(figsize=size)
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def save(figure, folder, name, title):
    figure.tight_layout()
    figure.savefig(folder / name, dpi=100, metadata={"Software": None})
    return name, title
