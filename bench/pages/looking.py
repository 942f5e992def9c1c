"""What oshrun's ways to look at a program cost: --check, --stats, --trace, --check=race."""
import ways
from rows import Page, Row, Run

TEXT = """The same programs (`bench/looking.c`, `bench/bfs.c`) under oshrun with nothing switched on, and with each of its options. Times of calls
and of loads and stores are processor time of one PE. A breadth-first search over two hosts of this machine
(`tools/dev/hosts.py`), one PE on each, claims each vertex by an atomic operation; there a call takes microseconds. The ratio is to the
program with nothing switched on."""

PLAIN = "plain"
LOOKS = {"check": ("--check", ["--check"], ()), "stats": ("--stats", ["--stats"], ()), "trace": ("--trace", ["--trace", "/dev/null"], ()),
         "built": ("compiled with --race, run without", [], ("--race",)), "race": ("--check=race", ["--check=race"], ("--race",))}
QUESTIONS = {"p": "a shmem_long_p", "put": "a put of 512 bytes", "own": "a load or store of symmetric memory", "private": "of other memory"}


def looks(options, build):
    """Returns the way without and those with each option."""
    plain = ways.lateral(build, PLAIN, "nothing switched on")
    return [plain, *[plain._replace(name=name, title=title, ours=True, flags=flags, folder="race" if flags else PLAIN,
                                    front=lambda run, words=words: [plain.front(run)[0], *words, *plain.front(run)[1:]])
                     for name, (title, words, flags) in LOOKS.items()]]


RUNS = [Run("looking-2", "looking", 2), Run("bfs-2", "bfs", 2, place="hosts", ours=("check", "stats", "trace"))]
ROWS = [*[Row("Calls, loads and stores", question, f"looking-2/{name}", None, PLAIN) for name, question in QUESTIONS.items()],
        Row("Over two hosts", "breadth-first search", "bfs-2/time", None, PLAIN),
        Row("Over two hosts", "the same with --stats alone", "bfs-2/counted", None, PLAIN, 1.03)]


def derive(run, values):
    """The target is about --stats."""
    for way in ("stats", PLAIN):
        if f"{run.key}/time" in values.get(way, {}):
            values[way][f"{run.key}/counted"] = values[way][f"{run.key}/time"]


PAGE = Page("looking", "looking.md", "What looking costs", TEXT, RUNS, ROWS, [], looks, derive=derive, each=False)
