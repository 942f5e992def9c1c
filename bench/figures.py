"""The pictures of the pages: panels as data, and how they are drawn. Without matplotlib `draw` draws none, and says so.

Each point is a median; a bar spans the quartiles of the rounds, and each picture says where there was one round. Colours are those that
the colour-blind tell apart (Okabe and Ito's), and no two curves differ by colour alone; text and axes are grey on no background, so that
a picture reads on a dark page and on a light one.
"""
import math
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

# What an axis shows, and its larger unit.
QUANTITIES = {"ns": ("time", "us"), "us": ("time", "ms"), "ms": ("time", "s"), "s": ("time", None), "GB/s": ("bandwidth", None),
              "MFlop/s": ("rate", "GFlop/s"), "bytes": ("memory", "KB"), "million/s": ("messages", None), "of 1": ("fraction", None)}
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9"]
MARKS, LINES, GREY = "os^vDPX*", ("-", "--", ":", "-."), "#797979"       # this grey has the same contrast to white and to a dark page
WIDTH, ALONE, HEIGHT, APART = 11.8, 8, 4, 0.16             # inches of 100 dots; APART: between the ways of one point, of the room of a point


def curves(document, panel):
    """Yields (way, words, values by point, whether it is a reference): a value is (q1, median, q3) or None."""
    for series in panel.series:
        who = [way for way in document["ways"] if series.who in ("all", way) or series.who == ("ours" if way in document["ours"] else "plain")]
        for way in document["ours"][:1] if series.who == "reference" else who:
            values = [document["values"].get(way, {}).get(series.key.format(point)) for point in panel.points]
            if any(values):
                yield way, series.words, values, series.who == "reference"


def about_spread(document, figure):
    values = [value for panel in figure.panels for _, _, held, _ in curves(document, panel) for value in held if value]
    bars = [value[0] < value[2] for value in values]
    if not any(bars):
        return "One round, so no spread."
    return "Bars span the quartiles of the rounds" + ("." if all(bars) else "; points of one round have none.")


def caption(document, figure):
    """Returns who is drawn, with versions, and what the bars are."""
    names = dict.fromkeys(document["ways"][way] for panel in figure.panels for way, _, _, reference in curves(document, panel) if not reference)
    return "; ".join(names) + ". " + about_spread(document, figure)


def without_gaps(document, panel):
    """Returns the panel with the points of which somebody has a value, or None."""
    held = [any(values[i] for _, _, values, _ in curves(document, panel)) for i in range(len(panel.points))]
    keep = lambda items: [item for item, there in zip(items, held) if there]
    return panel._replace(points=keep(panel.points), labels=keep([str(name) for name in panel.labels or panel.points])) if any(held) else None


def scale_of(panel, drawn):
    """Returns the words of the axis of values and a factor for them. A linear axis takes the unit of its largest value, a logarithmic one
    that of its middle."""
    what, larger = QUANTITIES[panel.unit]
    held = [value[1] for _, _, values, _ in drawn for value in values if value and value[1] > 0]
    scaled = larger and (math.sqrt(min(held) * max(held)) if panel.log else max(held)) >= 1000
    return f"{what} ({larger if scaled else panel.unit})", 1e-3 if scaled else 1


def styles(document, panel):
    """Returns how each curve is drawn, by its label. A mark and its colour are an MPI or an OpenSHMEM, if each has one series, or there are
    many, which the line tells apart; else a series. A filled mark and a thick line are Lateral, or its layer on that MPI; the peers' are hollow and thin."""
    drawn, made = list(curves(document, panel)), {}
    bare = lambda way: document["ways"][way].removeprefix("Lateral on ")
    of, kinds = list(dict.fromkeys(map(bare, document["ways"]))), list(dict.fromkeys(words for _, words, _, reference in drawn if not reference))
    many = sum(not reference for _, _, _, reference in drawn) > len(COLOURS)
    for number, (way, words, _, reference) in enumerate(drawn):
        if reference:
            made[words] = {"color": GREY, "linewidth": 1.3, "linestyle": ":" if panel.joined else "",
                           "marker": "_" if panel.joined else "|", "markersize": 6 if panel.joined else 14}
            continue
        mark = of.index(bare(way)) if len(kinds) == 1 or many else number
        line = LINES[kinds.index(words) % len(LINES)] if many and len(kinds) > 1 else "-" if way in document["ours"] else "--"
        made[": ".join(text for text in (document["ways"][way], words) if text)] = {
            "color": COLOURS[mark % len(COLOURS)], "linewidth": 1.6 if way in document["ours"] else 1, "linestyle": line if panel.joined else "",
            "marker": MARKS[mark % len(MARKS)], "markersize": 6, "fillstyle": "full" if way in document["ours"] else "none"}
    return made


def draw_panel(document, panel, axes):
    drawn, looks = list(curves(document, panel)), styles(document, panel)
    label, factor = scale_of(panel, drawn)
    apart = min(APART, 0.84 / len(drawn))
    for number, ((_, _, values, reference), (name, look)) in enumerate(zip(drawn, looks.items())):
        shift = 0 if panel.joined or reference else apart * (number - (len(drawn) - 1) / 2)
        at = [(x + shift, [factor * part for part in value]) for x, value in enumerate(values) if value and value[1] > 0]
        points, middle = [x for x, _ in at], [value[1] for _, value in at]
        spread = [[abs(value[1] - value[side]) if value[0] < value[2] else math.nan for _, value in at] for side in (0, 2)]
        axes.errorbar(*((points, middle) if panel.joined else (middle, points)), **{"yerr" if panel.joined else "xerr": spread},
                      capsize=2, label=name, **look)
    dress(panel, axes, label)
    return axes


def height_of(document, panel):
    return HEIGHT if panel.joined else 1 + len(panel.points) * max(0.36, 0.1 + 0.07 * len(styles(document, panel)))


def legends_of(document, row, width):
    """Returns the legends below a row of panels, each (cells, panel, columns): one for all if one panel's serves them. Width: inches of a cell."""
    looks = [styles(document, panel) for panel in row]
    fullest = looks.index(max(looks, key=len))
    shared = len(row) > 1 and all(look.items() <= looks[fullest].items() for look in looks)
    wide = width * (len(row) if shared else 1) - max(0 if panel.joined else 0.05 * max(map(len, panel.labels)) for panel in row)
    columns = [max(1, min(len(look), int(wide / (0.6 + 0.06 * max(map(len, look)))))) for look in looks]
    return [(slice(None), fullest, columns[fullest])] if shared else [(at, at, columns[at]) for at in range(len(row))]


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
        up.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7) if high < 10 * low else (1, 2, 5) if high < 1000 * low else (1,)))
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
        width = WIDTH / across if across > 1 else ALONE
        rows, shares = [panels[at:at + across] for at in range(0, len(panels), across)], []
        legends = [legends_of(document, row, width) for row in rows]
        for row, below in zip(rows, legends):              # inches of the panels, and of the legends below them
            shares += [max(height_of(document, panel) for panel in row),
                       0.1 + 0.2 * max(-(-len(styles(document, row[of])) // columns) for _, of, columns in below)]
        canvas = Canvas(figsize=(width * across, sum(shares) + 0.2), layout="constrained")
        canvas.supxlabel(about_spread(document, figure), fontsize=8, color=GREY)
        grid = canvas.add_gridspec(len(shares), across, height_ratios=shares)
        for number, (row, below) in enumerate(zip(rows, legends)):
            drawn = [draw_panel(document, panel, canvas.add_subplot(grid[2 * number, column])) for column, panel in enumerate(row)]
            for place, of, columns in below:
                axes = canvas.add_subplot(grid[2 * number + 1, place])
                axes.axis("off")
                axes.legend(*drawn[of].get_legend_handles_labels(), frameon=False, fontsize=8, labelcolor=GREY, loc="upper center", ncols=columns)
        canvas.savefig(folder / figure.file, dpi=100, transparent=True, metadata={"Software": None})
        made.append((figure.file, figure.title))
    return made
