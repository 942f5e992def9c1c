"""The pictures of the pages: panels as data, and how they are drawn. Without matplotlib `draw` draws none, and says so.

Each point is a median; a bar spans the quartiles of the rounds. Colours are those that the colour-blind tell apart (Okabe and Ito's);
text and axes are grey on no background, so that a picture reads on a dark page and on a light one.
"""
from collections import namedtuple

try:
    from matplotlib.figure import Figure as Canvas
    from matplotlib.ticker import LogLocator
except ImportError:
    Canvas = None

Figure = namedtuple("Figure", "file title panels")
# unit: a key of QUANTITIES. points: of `axis`; labels: their names. joined: lines over a horizontal axis, else dots beside a vertical one.
Panel = namedtuple("Panel", "title unit axis points series labels log joined", defaults=(None, True, True))
# who: "ours", "plain" (the peers), "all", "reference" (a value of ours that stands for the machine or its network), or the name of one
# way. key: with {} for a point.
Series = namedtuple("Series", "words who key")

# What an axis shows, and its larger unit, which is taken where all values are a thousand and more.
QUANTITIES = {"ns": ("time", "us"), "us": ("time", "ms"), "ms": ("time", "s"), "s": ("time", None), "GB/s": ("bandwidth", None),
              "MFlop/s": ("rate", "GFlop/s"), "bytes": ("memory", "KB"), "million/s": ("messages", None), "of 1": ("fraction", None)}
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9"]
MARKS, LINES, GREY = "os^vDPX*", ("-", "--", ":", "-."), "#797979"       # this grey has the same contrast to white and to a dark page
WIDTH, HEIGHT, APART = 11.8, 4, 0.16                       # inches of 100 dots; APART: between the ways of one point, of the room of a point


def curves(document, panel):
    """Yields (way, words, values by point, whether it is a reference): a value is (q1, median, q3) or None."""
    for series in panel.series:
        who = [way for way in document["ways"] if series.who in ("all", way) or series.who == ("ours" if way in document["ours"] else "plain")]
        for way in document["ours"][:1] if series.who == "reference" else who:
            values = [document["values"].get(way, {}).get(series.key.format(point)) for point in panel.points]
            if any(values):
                yield way, series.words, values, series.who == "reference"


def caption(document, figure):
    """Returns who is drawn, with versions, and what the bars are."""
    drawn = [curve for panel in figure.panels for curve in curves(document, panel)]
    names = dict.fromkeys(document["ways"][way] for way, _, _, reference in drawn if not reference)
    spread = any(value and value[0] < value[2] for _, _, values, _ in drawn for value in values)
    return "; ".join(names) + (". Bars span the quartiles of the rounds." if spread else ". Medians alone, without spread.")


def without_gaps(document, panel):
    """Returns the panel with the points of which somebody has a value, or None."""
    held = [any(values[i] for _, _, values, _ in curves(document, panel)) for i in range(len(panel.points))]
    keep = lambda items: [item for item, there in zip(items, held) if there]
    return panel._replace(points=keep(panel.points), labels=keep([str(name) for name in panel.labels or panel.points])) if any(held) else None


def scale_of(panel, drawn):
    """Returns the words of the axis of values and a factor for them. An axis that is linear takes the unit of its largest value."""
    what, larger = QUANTITIES[panel.unit]
    scaled = larger and (min if panel.log else max)(value[1] for _, _, values, _ in drawn for value in values if value) >= 1000
    return f"{what} ({larger if scaled else panel.unit})", 1e-3 if scaled else 1


def draw_panel(document, panel, axes, below):
    """Draws a panel, and its legend into the axes below it. A colour is a way, if each has one series or there are many, else a series."""
    drawn = list(curves(document, panel))
    ways, kinds = list(document["ways"]), list(dict.fromkeys(words for _, words, _, reference in drawn if not reference))
    many = sum(not reference for _, _, _, reference in drawn) > len(COLOURS)
    label, factor = scale_of(panel, drawn)
    for number, (way, words, values, reference) in enumerate(drawn):
        shift = 0 if panel.joined or reference else APART * (number - (len(drawn) - 1) / 2)
        at = [(x + shift, [factor * part for part in value]) for x, value in enumerate(values) if value and value[1] > 0]
        middle = [value[1] for _, value in at]
        spread = [[max(0, value[1] - value[0]) for _, value in at], [max(0, value[2] - value[1]) for _, value in at]]
        colour = ways.index(way) if len(kinds) == 1 or many else number
        mark = colour if len(kinds) == 1 or reference else kinds.index(words) if many else number
        line = "" if not panel.joined else ":" if reference else LINES[mark % len(LINES)] if many else "-"
        points = [x for x, _ in at]
        axes.errorbar(*((points, middle) if panel.joined else (middle, points)), **{"yerr" if panel.joined else "xerr": spread}, linestyle=line,
                      capsize=2, linewidth=1.3, markersize=14 if reference and not panel.joined else 5,
                      marker="_" if reference and panel.joined else "|" if reference else MARKS[mark % len(MARKS)],
                      color=GREY if reference else COLOURS[colour % len(COLOURS)],
                      label=words if reference else ": ".join(text for text in (document["ways"][way], words) if text))
    dress(panel, axes, label)
    below.axis("off")
    below.legend(*axes.get_legend_handles_labels(), frameon=False, fontsize=8, labelcolor=GREY, loc="upper center", ncols=columns_of(document, panel))


def columns_of(document, panel):
    """Returns the columns of a legend: two if its words are short."""
    longest = max(len(words) + len(document["ways"][way]) for way, words, _, _ in curves(document, panel))
    return 2 if longest < 36 else 1


def dress(panel, axes, label):
    across, up = (axes.xaxis, axes.yaxis) if panel.joined else (axes.yaxis, axes.xaxis)
    across.set_ticks(range(len(panel.labels)), panel.labels, fontsize=8)
    across.set_label_text(panel.axis, color=GREY)
    up.set_label_text(label, color=GREY)
    axes.set_title(panel.title[:1].upper() + panel.title[1:], fontsize=10, loc="left", color=GREY)
    if not panel.joined:
        axes.set_ylim(len(panel.labels) - 0.5, -0.5)
    if panel.log:
        (axes.set_yscale if panel.joined else axes.set_xscale)("log")
        low, high = up.get_view_interval()
        up.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1000 * low else (1,)))
        up.set_major_formatter(lambda value, _: f"{value:,.10g}")
        up.set_minor_formatter(lambda value, _: "")
    else:
        axes.set(**{"ylim" if panel.joined else "xlim": (0, None)})
    axes.grid(axis="y" if panel.joined else "both", color=GREY, alpha=0.3, linewidth=0.6)
    axes.tick_params(colors=GREY, which="both")
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side not in ("top", "right"))
        spine.set_color(GREY)


def draw(document, figures, folder):
    """Draws the pictures that have values. Returns [(file, title)]."""
    if Canvas is None:
        print("figures.py: no pictures without matplotlib (Debian: python3-matplotlib); those that are there stay as they are")
        return [(figure.file, figure.title) for figure in figures if (folder / figure.file).exists()]
    made = []
    for figure in figures:
        panels = [held for panel in figure.panels if (held := without_gaps(document, panel))]
        if not panels:
            continue
        across = min(2, len(panels))
        rows = [panels[at:at + across] for at in range(0, len(panels), across)]
        shares = []
        for row in rows:                                   # inches of the panels, and of the legends below them
            shares.append(max(HEIGHT if panel.joined else 1 + 0.36 * len(panel.points) for panel in row))
            shares.append(0.2 * max(-(-len(list(curves(document, panel))) // columns_of(document, panel)) for panel in row) + 0.1)
        canvas = Canvas(figsize=(WIDTH if across > 1 else 8, sum(shares)), layout="constrained")
        cells = canvas.subplots(2 * len(rows), across, squeeze=False, height_ratios=shares)
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
