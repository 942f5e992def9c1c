#!/usr/bin/env python3
"""./dev mutants: puts small faults into the code, one at a time, and tells which of them no test sees.

usage: mutants.py [FOLDER|FILE ...] [--minutes N] [--seed S] [--count N] [--each SECONDS] [--tests REGEX] [--release] [--again]
                  [--left] [--list]

  FOLDER, FILE   where faults are put (default: src and launch)
  --minutes N    stop after so long (default 30)
  --seed S       decides which faults are drawn (default 1)
  --count N      how many (default 100)
  --each SECONDS how long the tests of one fault run, likely killers first (default 90)
  --tests REGEX  only these tests, of the release build alone: how much a new test sees of its file, say
  --release      the release build alone, not those with sanitizers
  --again        instead of a sample: what tests/mutants/survivors.txt says is killed by a test
  --left         of what an earlier call drew with this seed, only what no test has named; with --tests: what a new test names of it
  --list         print the faults that would be put in, and put none in

All faults are built at once in a copy of the tree (build/mutants/tree), each of them off until its turn (schemata.py). A fault that
survives and changes no instruction counts as none. The tests that run its line (./dev reach), then others of the rooms concerned, run
in a pid namespace of their own, so that a faulty launcher reaches no other process, and all of it is nice to whoever else works on the
machine. Verdicts:

  named      a test failed and says what is wrong; or which wait of which line did not end, and what it waited for; or it crashed, and
             the report of the crash leads to the line of the fault
  stuck      a test did not end; the launcher tells of no wait of a line of the test
  crashed    a test only crashed                           time-out   a test did not end, and nobody says where
  survives   no test saw it

What survives the tests of release meets those of the builds with the sanitizers that ./dev test uses, too; the name of a test then
begins with that of the build.

After a test that only hangs or crashes, others get a third of the time to name the fault. A test that fails runs once more
without the fault, under the same limit; there it must pass, or it tells nothing.

Results go to build/mutants/SEED.jsonl; a later call with the same seed goes on behind them. tests/mutants/survivors.txt lists
survivors: what kills them now, or why no test can see them; the sampler leaves out the latter.
"""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mutate                                                              # noqa: E402
from mutants_tree import HOME, ROOT, Build, fail, in_cage, say         # noqa: E402
from reach import Reach                                                    # noqa: E402

LIST = ROOT / "tests/mutants/survivors.txt"
CLEARNESS = ["named", "stuck", "crashed", "time-out"]
LONGEST = 12                                                               # seconds; longer tests are left out
BUILDS = ("release", "asan-ubsan", "tsan")                                 # as ./dev test has them
SLOWER = 4                                                                 # times as slow is a build with a sanitizer

# Whose tests see a fault of a folder, the likeliest first; the longest prefix counts.
ROOMS = {
    "launch": "launch trust tools job hosts",
    "src/base": "unit trust job symbols conform launch nodes wire",
    "src/rte": "parts unit trust fuzz launch job hosts uccs nodes",
    "src/rte/pmix": "unit hosts",
    "src/transport": "parts wire far fault nodes",
    "src/transport/fault": "parts fault",
    "src/transport/sim": "parts wire",
    "src/transport/socket": "trust fuzz wire hosts far nodes",
    "src/transport/tcp": "trust fuzz wire far nodes fault",
    "src/uccs": "parts job uccs far",
    "src/uccs/core": "parts unit job mt uccs conform nodes",
    "src/uccs/object": "parts job uccs mt far trust conform",
    "src/uccs/watch": "parts trust fuzz hosts nodes",
    "src/uccs/link": "parts trust fuzz wire far fault mt nodes",
    "src/uccs/far": "parts trust fuzz wire far fault mt nodes",
    "src/uccs/sync": "parts conform job nodes far fault uccs",
    "src/uccs/am": "parts uccs mt far trust job nodes",
    "src/uccs/rma": "parts uccs mt far wire mpi",
    "src/uccs/coll": "parts uccs far mpi",
    "src/uccs/face": "parts uccs mt far mpi job",
    "src/uccs/env": "parts uccs far mpi",
    "src/shmem": "parts conform job check symbols mt nodes fault wire",
    "src/shmem/coll": "parts conform job nodes fault",
    "src/mpi": "mpi fuzz",
}
APART = ("parts", "unit", "trust", "launch")                               # rooms with programs in C that hold parts of the code


# ------------------------------------------------------------------------------------ the faults

def files_of(places):
    names = subprocess.run(["git", "ls-files", "--", *places], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in names.split() if name.endswith((".c", ".h")) and name.startswith(("src/", "launch/"))]


def all_faults(places, root=ROOT):
    files = [name for name in files_of(places) if (root / name).is_file()]
    if not files:
        fail(f"no C file of src or launch in {' '.join(places)}")
    return [fault for name in files for fault in mutate.faults_of(name, (root / name).read_text(encoding="utf-8"))]


def read_list():
    """What has been said of survivors: {(path, old line, new line): (killed or argued, text)}."""
    told, path, old, new = {}, "", "", ""
    for number, line in enumerate(LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else [], 1):
        word, _, rest = line.partition(" ")
        if word in ("-", "+"):
            old, new = (rest, new) if word == "-" else (old, rest)
        elif word in ("killed:", "argued:"):
            told[path, old, new] = word[:-1], rest
        elif line.startswith(("src/", "launch/")):
            path = line
        elif line and not line.startswith(("#", "  ")):
            fail(f"{LIST.relative_to(ROOT)}:{number}: neither a path, - line, + line, killed:, argued: nor a comment")
    return told


def draw(options, told):
    faults = all_faults(options.places)
    if options.again:
        return [fault for fault in faults if told.get(fault.key(), ("",))[0] == "killed"]
    left = {fault.key(): fault for fault in faults if told.get(fault.key(), ("",))[0] != "argued"}
    return sorted(left.values(), key=lambda fault: lot(options.seed, fault))[:options.count]


def lot(seed, fault):
    """The fault's place in the draw. It does not depend on the other faults, so a sample stays the same while other code changes."""
    return hashlib.sha256("\n".join((str(seed), *fault.key())).encode()).digest()


# ------------------------------------------------------------------------------------- the tests

def program_of(name):
    """The test's name without its number of PEs."""
    return re.sub(r"-\d+(x\d+)?$", "", name)


def rooms_of(path):
    return ROOMS[max((prefix for prefix in ROOMS if path.startswith(prefix)), key=len)].split()


def source_of(test):
    """Returns the file of a test; the script that runs it comes before it in the command."""
    return next((word for word in reversed(test["command"]) if word.endswith((".c", ".cc", ".py"))), "")


@functools.cache
def included(source):
    """Returns what a test's source includes, itself or by headers that lie beside it, as it is written there."""
    names = set(re.findall(r'^#include "(.*)"', pathlib.Path(source).read_text(encoding="utf-8"), re.MULTILINE))
    beside = [file for file in (pathlib.Path(source).with_name(name) for name in names if "/" not in name and name.endswith(".h")) if file.is_file()]
    return frozenset(names.union(*(included(str(file)) for file in beside)))


def includes(source, path):
    """Returns whether it includes this file of src or launch."""
    return any(name == path.partition("/")[2] or name.endswith(f"/{path}") for name in included(source))


def tests_for(fault, build, reach, killers, told, only):
    """The tests that run the line, those of the rooms concerned, and those that the list tells of: these first, then those that hold the
    file among made-up neighbours (APART), then earlier killers of faults of this file, then those that run the line or are newer than
    what is known of lines, of these first those that bear the name of the file or lie in a folder of its folder's name, then tests of
    each room in turn, the quick ones first and more of the first rooms; the same program with other PEs comes after all others. What
    runs a line is not known of all: a process may have an environment of its own, and some lines of headers are taken for another
    file's."""
    hints = tuple(word.rstrip(",;") for word in told.get(fault.key(), ("", ""))[1].split() if "/" in word)
    rooms, words = rooms_of(fault.path), {pathlib.Path(fault.path).stem, *pathlib.Path(fault.path).stem.split("_")} - {"inner"}
    folder, turn, kin = str(pathlib.Path(fault.path).parent), collections.Counter(), collections.Counter()
    ranks, cost, run = {}, reach.seconds, reach.tests_of(fault.path, fault.line, fault.old_line)
    known = dict(build.tests)                                              # another thread may take a test away
    sources = {name: source_of(test) for name, test in known.items()}
    held = {name for name, source in sources.items() if name.split("/")[0] in APART and source.endswith(".c") and includes(source, fault.path)}
    concerned = (name for name in known if name in run or name.split("/")[0] in rooms or name in held or name.startswith(hints or "?"))
    if only:
        concerned = (name for name in known if only.search(name) and (not run or name in run or name not in cost))
    cost = {name: cost.get(name, 1) for name in concerned}                 # of a new test nothing is known
    for name in sorted((name for name in cost if cost[name] < LONGEST), key=cost.get):
        room, program = name.split("/")[0], program_of(name)
        turn[room] += 1
        kin[program] += 1
        place = rooms.index(room) if room in rooms else len(rooms)
        bears = any(word in name for word in words if len(word) > 2) or f"/{pathlib.Path(folder).name}/" in sources[name]
        apart = name in held or name in run and room in APART and sources[name].endswith(".c")
        ranks[name] = not name.startswith(hints or "?"), not apart, -killers[fault.path][build.called(name)], bool(run) and name in reach.seconds and name not in run, kin[program], -killers[folder][build.called(name)], not bears, turn[room] * (1 + place), place
    slower = 1 if build.preset == "release" else SLOWER
    return [{**known[name], "limit": slower * max(5, 4 * cost[name])} for name in sorted(ranks, key=ranks.get)]


# ----------------------------------------------------------------------------------------- a run

class Run:
    def __init__(self, options):
        self.options, self.told = options, read_list()
        self.end = time.monotonic() + 60 * options.minutes
        self.file = HOME / ("again.jsonl" if options.again else "tests.jsonl" if options.tests and not options.left else f"{options.seed}.jsonl")
        self.killers = collections.defaultdict(collections.Counter)
        self.proven = set()                                                 # tests that pass without a fault

    def renews(self):
        """Returns whether results of an earlier call say nothing of this one."""
        return self.options.again or self.options.tests and not self.options.left

    def done_before(self):
        results = [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() and not self.renews() else []
        for file in HOME.glob("*.jsonl"):
            for line in file.read_text().splitlines():
                self.remember(json.loads(line))
        return {tuple(result["key"]): {"builds": BUILDS, **result} for result in results}

    def remember(self, result):
        if result.get("test"):
            self.killers[result["key"][0]][result["test"]] += 1
            self.killers[str(pathlib.Path(result["key"][0]).parent)][result["test"]] += 1

    def try_one(self, fault, build):
        number = build.numbers.get(fault)
        if not number:
            return {"verdict": "no fault", "said": f"does not build as {build.preset}, or lies outside of a function"}
        result = self.try_tests(fault, number, build)
        if result["verdict"] == "survives" and build.preset == BUILDS[0] and not build.changes(fault):
            return {"verdict": "no fault", "said": "changes no instruction"}   # so later builds meet only those that change one
        return result

    def try_tests(self, fault, number, build):
        tests = tests_for(fault, build, self.reach, self.killers, self.told, self.options.tests)
        end, count = time.monotonic() + self.options.each, 0
        while True:
            ran = tests and in_cage(tests, seconds=max(self.options.each / 3, end - time.monotonic()), fault=fault, number=number, lanes=1)
            bad = [one for one in ran if one["verdict"] not in ("passed", "skipped")]
            best = min(bad, key=lambda one: CLEARNESS.index(one["verdict"]), default={"verdict": "survives"})
            count += len(ran)
            if not bad or self.passes_clean(best, build):
                return {"tests": count, **best, **({"test": build.called(best["test"])} if bad else {})}
            say(f"{build.called(best['test'])} fails without the fault, too")
            build.tests.pop(best["test"], None)
            tests = [test for test in tests if test["name"] not in {one["test"] for one in ran}]

    def passes_clean(self, result, build):
        """Returns whether the test that has failed passes without the fault; the machine may be too busy for it."""
        if build.called(result["test"]) not in self.proven or result["late"]:
            if result["test"] not in build.tests:
                return False
            test = build.tests[result["test"]]
            again = in_cage([{**test, "limit": result["limit"], "exact": True}], stop=False, lanes=1)
            if not again or again[0]["verdict"] != "passed":
                return False
            self.proven.add(build.called(result["test"]))
        return True

    def all(self, faults):
        HOME.mkdir(parents=True, exist_ok=True)
        results = self.done_before()
        if self.renews():
            self.file.unlink(missing_ok=True)
        self.reach = Reach()
        one = self.options.tests or self.options.release
        for preset in BUILDS[:1] if one else BUILDS:
            tried = [fault for fault in faults if self.is_due(results.get(fault.key()), preset)]
            if tried and time.monotonic() < self.end:
                self.meet(faults if one else tried, tried, preset, results)
        return [results[fault.key()] for fault in faults if fault.key() in results]

    def is_due(self, result, preset):
        """Returns whether a fault of which this is known so far (or None) meets the tests of this build."""
        if self.options.left:
            return result and result["verdict"] not in ("named", "no fault")
        return not result or result["verdict"] == "survives" and preset not in result["builds"]

    def meet(self, faults, tried, preset, results):
        """Builds the copy with the faults, and puts those to try before the tests of this build, as many at a time as there are
        processors."""
        say(f"building a copy of the tree with {len(faults)} faults in build/mutants/tree, as {preset}")
        build = Build(preset, faults)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for fault, result in pool.map(lambda fault: (fault, self.timed(fault, build)), tried):
                if result and (not self.options.left or result["verdict"] in ("named", "no fault")):
                    result["builds"] = [*results.get(fault.key(), {"builds": ()})["builds"], preset]
                    results[fault.key()] = result
                    with self.file.open("a") as file:
                        file.write(json.dumps(result) + "\n")
                    self.remember(result)
                    say(f"{result['verdict']} ({result['took']:.0f} s, {result.get('test', '')}): {fault}")

    def timed(self, fault, build):
        began = time.monotonic()
        if began > self.end:
            return None
        result = {"key": fault.key(), "line": fault.line, "kind": fault.kind, **self.try_one(fault, build)}
        return {**result, "took": round(time.monotonic() - began, 1)}


def report(options, results, drawn):
    count = collections.Counter(result["verdict"] for result in results)
    real = len(results) - count["no fault"]
    share = f", {100 * count['named'] / real:.0f} of 100 named" if real else ""
    late = sum(result["verdict"] == "named" and result.get("late", False) for result in results)
    crash = sum(result["verdict"] == "named" and result.get("crash", False) for result in results)
    what = "killed before" if options.again else f"seed {options.seed}"
    say(f"{what}: {real} faults of {drawn} drawn ({count['no fault']} change nothing, {drawn - len(results)} not reached): "
        f"{count['named']} named ({late} by a wait that did not end, {crash} by a crash at their line), {count['stuck']} stuck, {count['crashed']} crashed, {count['time-out']} by time-out, "
        f"{count['survives']} survive{share}")
    return 1 if count["survives"] else 0


def main():
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", default=["src", "launch"], metavar="FOLDER")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--each", type=float, default=90)
    parser.add_argument("--tests", type=re.compile, metavar="REGEX")
    parser.add_argument("--release", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--left", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    os.nice(10)                                                             # the tests of others shall not end by a time-out
    faults = draw(options, read_list())
    if options.list:
        run = Run(options)
        known = run.done_before() if options.left else {}
        print("\n".join(str(fault) for fault in faults if not options.left or run.is_due(known.get(fault.key()), BUILDS[0])))
        return 0
    return report(options, Run(options).all(faults), len(faults))


if __name__ == "__main__":
    sys.exit(main())
