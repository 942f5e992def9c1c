"""The pictures of the pages: panels as data, and how they are drawn. Without matplotlib there are none, and `draw` says so once.

Each point is a median; a bar spans the quartiles of the rounds. Colours are those that the colour-blind tell apart (Okabe and Ito's);
text and axes are grey on no background, so that a picture reads on a dark page and on a light one.
"""
from collections import namedtuple

try:
    from matplotlib.figure import Figure as Canvas
except ImportError:
    Canvas = None

Figure = namedtuple("Figure", "file title panels")
# points: of the horizontal axis; labels: their names. joined: lines, else dots.
Panel = namedtuple("Panel", "title unit axis points series labels log joined", defaults=(None, True, True))
# who: "ours", "plain" (the peers), "all", "floor" (a value of ours that stands for the machine), or the name of one way. key: with {}
# for a point.
Series = namedtuple("Series", "words who key")

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#A6891F", "#8A8A8A"]
MARKS, LINES, GREY = "os^vDPX*", ("-", "--", ":", "-."), "#808080"


def curves(document, panel):
    """Yields (way, words, values by point, whether it is a floor): a value is (q1, median, q3) or None."""
    for series in panel.series:
        who = [way for way in document["ways"] if series.who in ("all", way) or series.who == ("ours" if way in document["ours"] else "plain")]
        for way in document["ours"][:1] if series.who == "floor" else who:
            values = [document["values"].get(way, {}).get(series.key.format(point)) for point in panel.points]
            if any(values):
                yield way, series.words, values, series.who == "floor"


def draw_panel(document, panel, axes, below):
    """Draws a panel, and its legend into the axes below it."""
    drawn = list(curves(document, panel))
    ways, kinds = list(document["ways"]), list(dict.fromkeys(words for _, words, _, _ in drawn))
    many = len(drawn) > len(COLOURS)                       # then a colour is a way, and a mark one of its series
    for number, (way, words, values, floor) in enumerate(drawn):
        at = [(x, value) for x, value in enumerate(values) if value and value[1] > 0]
        middle = [value[1] for _, value in at]
        spread = [[max(0, value[1] - value[0]) for _, value in at], [max(0, value[2] - value[1]) for _, value in at]]
        colour, mark = (ways.index(way), kinds.index(words)) if many else (number, number)
        label = words if floor else ": ".join(text for text in (document["ways"][way], words) if text)
        axes.errorbar([x for x, _ in at], middle, yerr=spread, linestyle=("" if not panel.joined else ":" if floor else LINES[mark % len(LINES)] if many else "-"),
                      marker="_" if floor else MARKS[mark % len(MARKS)], markersize=14 if floor and not panel.joined else 5,
                      color=GREY if floor else COLOURS[colour % len(COLOURS)], label=label, capsize=2, linewidth=1.3)
    dress(panel, axes)
    below.axis("off")
    below.legend(*axes.get_legend_handles_labels(), frameon=False, fontsize=8, labelcolor=GREY, loc="center", ncols=columns_of(document, panel))


def columns_of(document, panel):
    """Returns the columns of a legend: two if its words are short."""
    longest = max(len(words) + len(document["ways"][way]) for way, words, _, _ in curves(document, panel))
    return 2 if longest < 36 else 1


def dress(panel, axes):
    labels = [str(label) for label in panel.labels or panel.points]
    slanted = max(map(len, labels)) > 5 and not panel.joined or max(map(len, labels)) * len(labels) > 60
    axes.set_xticks(range(len(labels)), labels, rotation=30 if slanted else 0, ha="right" if slanted else "center", fontsize=8)
    axes.set_title(panel.title, fontsize=10, loc="left", color=GREY)
    axes.set_xlabel(panel.axis, color=GREY)
    axes.set_ylabel(panel.unit, color=GREY)
    if panel.log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    axes.tick_params(colors=GREY, which="both")
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side not in ("top", "right"))
        spine.set_color(GREY)


def draw(document, figures, folder):
    """Draws the pictures that have values. Returns [(file, title)]."""
    if Canvas is None:
        print("figures.py: no pictures without matplotlib; on Debian, apt-get install python3-matplotlib gives it")
        return []
    made = []
    for figure in figures:
        panels = [panel for panel in figure.panels if any(True for _ in curves(document, panel))]
        if not panels:
            continue
        across = min(2, len(panels))
        rows = [panels[at:at + across] for at in range(0, len(panels), across)]
        legends = [0.2 * max(-(-len(list(curves(document, panel))) // columns_of(document, panel)) for panel in row) + 0.1 for row in rows]
        width = 11.8 if across > 1 else max(7, min(11.8, 0.45 * len(panels[0].points)))
        canvas = Canvas(figsize=(width, sum(4 + legend for legend in legends)), layout="constrained")
        cells = canvas.subplots(2 * len(rows), across, squeeze=False, height_ratios=[share for legend in legends for share in (4, legend)])
        for number, row in enumerate(rows):
            for column in range(across):
                if column < len(row):
                    draw_panel(document, row[column], cells[2 * number][column], cells[2 * number + 1][column])
                else:
                    cells[2 * number][column].axis("off")
                    cells[2 * number + 1][column].axis("off")
        canvas.savefig(folder / figure.file, dpi=100, transparent=True, metadata={"Software": None})
        made.append((figure.file, figure.title))
    return made
