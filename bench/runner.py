"""Compiles the programs of a page, runs them in rounds, and keeps each round in a file, so that an interrupted measurement goes on.

In a round each program runs once with every way, in changing order, and the machine's or the network's own programs beside it. Their
values are kept among ours, because a round's ratios use both.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import limited
import machine
import ways

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MAKE_HOSTS = ROOT / "tools" / "dev" / "hosts.py"
WITH_FLOOR = {"latency"}                                   # programs linked to the floor library
FLAGS = {".c": ["-std=gnu17", "-I", ROOT / "examples", "-I", HERE, "-Wno-deprecated-declarations"]}
PERFTEST_TIMEOUT = 60
MOST_BUSY, PATIENCE = 0.25, 1                              # share of the processors that others may use; seconds to wait for it
MOVED = 1.4                                                # hops of a round that differ by more: a hypervisor has moved a core
NEEDS = {"apps/coarray.f90": ["-fcoarray=lib", "-lcaf_openmpi"]}
PACKAGES = {"apps/forest": ["PETSc"]}
PYTHON = "/usr/bin/python3"                                # whose mpi4py is built for the system's MPI


def note(text):
    print(f"run.py: {text}", file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------------------------ build

def find_build(given):
    """Returns the build folder. `given`: one, a source tree with one, or None for this tree's."""
    for build in [given, given / "build" / "release"] if given else [ROOT / "build" / "release", ROOT / "build" / "dev"]:
        if (build / "bin" / "oshcc").exists():
            return build.resolve()
    raise SystemExit(f"run.py: no Lateral is built in {given or 'this tree'}; run ./dev build, or name a build folder by --build")


def compile_with(compiler, source, output, *more, first=()):
    source = HERE / source
    output.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".f90":
        compiler = compiler.with_name(compiler.name.replace("mpicc", "mpifort"))
    command = [compiler, *first, "-O2", *FLAGS.get(source.suffix, []), source, "-o", output, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        note(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip()}")
    return done.returncode == 0


def source_of(run):
    """Returns the program's file; what has no suffix is C."""
    return run.program if Path(run.program).suffix else f"{run.program}.c"


def path_of(way, run, out):
    """Returns what is started: the compiled program, or a script itself."""
    return HERE / run.program if run.program.endswith(".py") else out / (way.folder or way.name) / Path(run.program).name


def packages(names):
    """Returns what pkg-config says of them; nothing where it knows them not, and the compiler tells the rest."""
    return machine.text_of(["pkg-config", "--cflags", "--libs", *names]).split() if names else []


def build(who, runs, out):
    """Compiles what is run. Returns {(way, program)} of what does not compile."""
    built = [compile_with("cc", "floor.c", out / "floor" / "libbenchfloor.so", "-shared", "-fPIC")]
    if not all([*built, compile_with("cc", "machine.c", out / "floor" / "machine")]):
        raise SystemExit(1)
    link, made, failed = ["-L", out / "floor", "-lbenchfloor", f"-Wl,-rpath,{out / 'floor'}"], set(), set()
    for way in who:
        for run in runs:
            target = path_of(way, run, out)
            if takes(way, run) and target not in made and not run.program.endswith(".py"):
                made.add(target)
                more = [*(link if run.program in WITH_FLOOR else []), *NEEDS.get(run.program, []), *packages(PACKAGES.get(run.program)), "-pthread", "-lm", "-ldl"]
                if not compile_with(way.compiler, source_of(run), target, *more, first=way.flags):
                    failed.add(target)
    return failed


# -------------------------------------------------------------------------------------------------- run

def takes(way, run):
    if way.ours:
        return run.ours is None or way.name in run.ours
    return run.peers is True or (run.peers and way.name in run.peers)


def takes_minutes(way, run):
    return way.spins and run.count > machine.cores() and run.program not in ("launch", "rss")


def read_values(run, text):
    """Returns ({key: value}, {key: unit}) of the JSON that a program printed."""
    results = json.loads(text[text.index("{"):])["results"]
    return {f"{run.key}/{name}": value for name, (value, _) in results.items()}, {f"{run.key}/{name}": unit for name, (_, unit) in results.items()}


def execute(run, command, env):
    """Returns (values, units, why it did not end well or None). A program that hangs loses the results after that, and no others."""
    ended = limited.run(command, env, run.limit)
    lines, why = [line for line in (ended.stderr or ended.stdout).splitlines() if line.strip(" -=")], None
    if "all windows are those of" in ended.stderr:
        return {}, {}, "the layer leaves the windows to the MPI, as a line of it says"
    if ended.status is None:
        why = f"did not end: {run.limit} s without a result"
    elif ended.status:
        why = f"exit status {ended.status}: {lines[0] if lines else 'nothing said'}"
        if "wrong results" in ended.stderr:
            return {}, {}, why
    elif run.kind == "timed":
        return {f"{run.key}/time": ended.seconds * 1e3}, {f"{run.key}/time": "ms"}, None
    text = ended.stdout.rstrip()
    if "{" not in text:
        return {}, {}, why or "it printed no result"
    if "]" in text and not text.endswith("}"):
        text, why = text[:text.rindex("]") + 1] + "}}", why or "it stopped among its results"
    try:
        return *read_values(run, text), why
    except (ValueError, KeyError) as wrong:
        return {}, {}, why or str(wrong)


def perftest(other, port, quick):
    """Starts ucx_perftest on both hosts. Returns its value. Each test has processes of its own: some do not end."""
    env = {**{name: value for name, value in os.environ.items() if name.startswith("UCX_")}, **(ways.NETWORK and {**ways.NETWORK, "UCX_TLS": "tcp,self"}),
           "UCX_WARN_UNUSED_ENV_VARS": "n"}
    words = ["env", *(f"{name}={value}" for name, value in env.items()), "ucx_perftest", "-p", port, "-t", other.test, "-s", other.size,
             "-n", max(20, other.count // (10 if quick else 1)), "-w", max(10, other.count // 10)]
    line = lambda host, *more: ["ssh", host, shlex.join(map(str, [*words, *more]))]
    with subprocess.Popen(line(ways.HOSTS[0]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            time.sleep(0.4)
            done = subprocess.run(line(ways.HOSTS[-1], "-f", "-v", ways.HOSTS[0]), capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=PERFTEST_TIMEOUT)
        finally:
            server.terminate()
    row = [cells for text in done.stdout.splitlines() if text.strip()[:1].isdigit() and len(cells := text.split(",")) > 6][-1:]
    if not row:
        raise ValueError("ucx_perftest says nothing")
    latency, megabytes, rate = (float(row[0][i]) for i in (-5, -3, -1))
    return {"ns": latency * 1e3, "GB/s": megabytes * (1 << 20) / 1e9, "ns each": 1e9 / rate if rate else 0}[other.unit]


class Rounds:
    """The rounds of a page that are measured, in a file. A round is {run, busy, hops, values: {way: {key: value}}, failed: {way: why}}; hops: the
    nanoseconds of a cache line between two cores, before and after each way."""

    def __init__(self, path, about, quick):
        self.path, self.about, self.quick = path, about, quick
        self.rounds, self.units, self.shown = [], {}, False          # shown: --all has come to its end with them

    def load(self):
        document = json.loads(self.path.read_text(encoding="utf-8"))
        self.about, self.rounds, self.units = document["about"], document["rounds"], document["units"]
        self.shown, self.quick = document["shown"], document["quick"]
        return self

    def save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"about": self.about, "quick": self.quick, "shown": self.shown, "units": self.units,
                                    "rounds": self.rounds}) + "\n", encoding="utf-8")
        part.replace(self.path)

    def of(self, run_key):
        return [one for one in self.rounds if one["run"] == run_key]

    def samples(self, names):
        """Returns {way: {key: [a value or None for each round of the key's run]}}. Rounds that others disturbed are left out where two calm ones
        are there: a median of one says nothing of the spread."""
        made = {name: {} for name in names}
        for run_key in dict.fromkeys(one["run"] for one in self.rounds):
            rounds = self.of(run_key)
            disturbed = [one["busy"] > MOST_BUSY or max(one["hops"], default=0) > MOVED * min(one["hops"], default=0) for one in rounds]
            enough = disturbed.count(False) > 1
            calm = [{} if bad and enough else one["values"] for bad, one in zip(disturbed, rounds)]
            for name in names:
                for key in dict.fromkeys(key for values in calm for key in values.get(name, {})):
                    made[name][key] = [values.get(name, {}).get(key) for values in calm]
        return made


class Session:
    """One call of the runner for one page."""

    def __init__(self, options, page, who, out, rounds):
        self.options, self.page, self.who, self.out, self.rounds = options, page, who, out, rounds
        self.failed, self.port, self.uncompiled = {}, 13000 + os.getpid() % 5000, set()
        for one in rounds.rounds:                          # what hung or failed is not asked again
            self.failed.update({(way, one["run"]): why for way, why in one["failed"].items()})

    def run_way(self, way, run, one):
        program = path_of(way, run, self.out)
        if program in self.uncompiled:
            one["failed"][way.name] = "does not compile"
        if (way.name, run.key) in self.failed or way.name in one["failed"]:
            return
        script = [PYTHON] if run.program.endswith(".py") else []
        command = [*way.front(run), *script, program, *run.args, *(["--quick"] if self.options.short and run.kind == "program" else [])]
        values, units, why = execute(run, command, way.env(run))
        self.rounds.units.update(units)
        one["values"][way.name] = values
        if why:
            self.failed[way.name, run.key] = one["failed"][way.name] = why
            note(f"{way.title}: {run.key}: {why}")

    def run_beside(self, other, run, one):
        """Runs another program beside, and adds its values to ours."""
        folder, quick = self.out / "floor", ["--quick"] * self.options.short
        if other.test in ("spawn", "barrier"):
            values, units, why = execute(run, [folder / "machine", other.test, run.count], {})
            values, units = ({key.replace("/time", "/spawn"): value for key, value in of.items()} for of in (values, units))
        elif other.test == "hop":
            values, units, why = execute(run, [folder / "machine", "hop", *quick], {})
        elif not shutil.which("ucx_perftest") or other.key in self.failed or self.options.no_peers:
            return
        else:
            self.port, key = self.port + 1, f"{run.key}/{other.key}"
            try:
                value, why = perftest(other, self.port, self.options.short), None
                values, units = {key: value}, {key: other.unit.partition(" ")[0]}
            except (ValueError, subprocess.TimeoutExpired) as wrong:
                values, units, why = {}, {}, str(wrong)
        one["values"].setdefault("lateral", {}).update(values)
        self.rounds.units.update(units)
        if why:
            self.failed[other.key] = why
            note(f"{other.key} beside {run.key}: {why}")

    def seconds_of(self, run):
        """Returns what the last round of this run took."""
        return next((one.get("seconds", 0) for one in reversed(self.rounds.rounds) if one["run"] == run.key), 0)

    def one_round(self, run, turn):
        end = time.monotonic() + (0 if self.options.smoke else PATIENCE)
        while (busy := machine.busy()) > MOST_BUSY and time.monotonic() < end:
            pass
        one, begin = {"run": run.key, "busy": busy, "hops": hops(self.out), "values": {}, "failed": {}}, time.monotonic()
        order = [way for way in self.who if takes(way, run) and not takes_minutes(way, run)]
        turn %= len(order)
        for way in order[turn:] + order[:turn]:
            self.run_way(way, run, one)
            one["hops"] += hops(self.out)
        for other in run.beside if any(way.name == "lateral" for way in self.who) and not self.options.against else ():
            self.run_beside(other, run, one)
        self.page.derive(run, one["values"])
        one["seconds"] = round(time.monotonic() - begin, 1)
        self.rounds.rounds.append(one)
        self.rounds.save()

    def affordable(self, runs, seconds):
        """Returns those of the runs, the shortest first, that take no longer than this together."""
        taken = []
        for run in sorted(runs, key=self.seconds_of):
            seconds -= self.seconds_of(run)
            if seconds >= 0:
                taken.append(run)
        return [run for run in runs if run in taken]

    def measure(self, runs, until):
        """Measures the rounds that these runs lack. After the first, each round has an equal part of the time up to `until`, on the monotonic clock."""
        self.uncompiled = build(self.who, runs, self.out)
        have = {run.key: len(self.rounds.of(run.key)) for run in runs}
        total, done = sum(max(0, min(self.options.rounds, run.rounds) - have[run.key]) for run in runs), 0
        for number in range(self.options.rounds):
            lacking = [run for run in runs if have[run.key] <= number < run.rounds]
            if number and until:
                lacking = self.affordable(lacking, (until - time.monotonic()) / (self.options.rounds - number))
            for run in lacking:
                done += 1
                if sys.stderr.isatty():
                    print(f"\r\033[K{self.page.name} [{done}/{total}] round {number + 1}: {run.key}", end="", file=sys.stderr, flush=True)
                self.one_round(run, number)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def share(until, runs, others):
    """Returns the time at which these runs end so that others have a part that suits them, or None."""
    now = time.monotonic()
    return until and now + max(0, until - now) * len(runs) / max(1, len(runs) + len(others))


def hops(out):
    """Returns a list with the nanoseconds of a cache line between two cores; an empty one where there is one core."""
    done = subprocess.run([out / "floor" / "machine", "hop", "--quick"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["results"]["hop"][:1] if done.stdout else []


def hosts_are_here():
    return subprocess.run([sys.executable, "-B", MAKE_HOSTS, "--check"], capture_output=True, check=False).returncode == 0


def within_hosts(slots, argv):
    """Runs this script again on the launch node of two hosts, with the same options. Returns its exit status."""
    words = [sys.executable, "-B", MAKE_HOSTS, len(ways.HOSTS), "--slots", slots, "--", sys.executable, "-B", HERE / "run.py", *argv]
    return subprocess.run([str(word) for word in words], check=False).returncode
