"""Measures over two hosts of this machine (tools/dev/hosts.py), and over UCX on one node: `./dev bench --hosts`.

In every round a program runs once with Lateral and once with every peer, in changing order. ucx_perftest runs beside
them on the same two hosts. It is the floor: the time of UCX alone for the same bytes. Between the hosts peers use UCX over
TCP, and Lateral its own module for TCP; a peer's ranks of one host share memory. A file keeps the rounds, so that a long
measurement can run in parts: --keep adds rounds to those of an earlier call with --keep.

hosts_suite.py lists the measurements; docs/results/hosts.md shows the table and the pictures.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import time

import hosts_report
import hosts_suite as suite
import machine
import runner
import table

HOSTS = runner.ROOT / "tools" / "dev" / "hosts.py"
NAMES = ["h1", "h2"]
# How peers and floor reach hosts that are made on this machine; cluster.py leaves that to UCX.
NETWORK = {"mpi": ["-x", "UCX_TLS=tcp,posix,self", "-x", "UCX_NET_DEVICES=eth0"], "perftest": {"UCX_TLS": "tcp,self"}}
FLOOR_TIMEOUT = 60
MOST_BUSY = 0.25                                           # of the processors' time, by others
PORT = 13400


def note(text):
    print(f"hosts.py: {text}", file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------------------ who takes part

def on_hosts(pes):
    """Returns host:slots for both launchers, which place PEs in blocks."""
    return ",".join(f"{name}:{pes // len(NAMES)}" for name in NAMES)


class Lateral:
    name, title = "lateral", "Lateral"

    def __init__(self, build):
        self.oshcc, self.oshrun = build / "bin" / "oshcc", build / "bin" / "oshrun"

    def command(self, run, program):
        where = ["--bind-to", "core"] if run.local else ["--host", on_hosts(run.pes)]
        return [self.oshrun, "-q", *where, "-n", run.pes, program]

    def env(self, run):
        return {"LATERAL_TRANSPORTS": "ucx", "UCX_TLS": "posix,self"} if run.local else {}


class OpenMpi:
    """Its memory hooks crash at exit in Debian 12's 4.1.4, so they stay off. Over hosts ranks are not
    bound to cores, because rank 0 of every host would sit on core 0; on one node all are bound. yields: a waiting rank
    gives its core away, which Open MPI does not do by default over hosts."""

    def __init__(self, peer, yields):
        self.oshcc, self.mpirun = peer.oshcc, peer.oshcc.parent / "mpirun"
        self.yields = yields
        self.name = "openmpi.yield" if yields else "openmpi"
        self.title = peer.title + (", yielding" if yields else "")

    def command(self, run, program):
        options = ["--mca", "opal_common_ucx_opal_mem_hooks", "0"]
        options += ["-x", "UCX_TLS=posix,self", "--oversubscribe", "--bind-to", "core:overload-allowed"] if run.local else \
            ["--bind-to", "none", "--host", on_hosts(run.pes), *NETWORK["mpi"]]
        options += ["--mca", "mpi_yield_when_idle", int(self.yields)]
        return [self.mpirun, *options, "-n", run.pes, program]

    def env(self, run):
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def implementations(options):
    ours = runner.find_build(options)
    peers = [] if options.no_peers else machine.find_peers(ours / "bin", options.peer)
    mpi = [peer for peer in peers if peer.title.startswith("Open MPI")][:1]
    if not mpi and not options.no_peers:
        note("no peer here; on Debian, apt-get install libopenmpi-dev gives one")
    return [Lateral(ours)] + [OpenMpi(peer, yields) for peer in mpi for yields in (False, True)]


# --------------------------------------------------------------------------------------------------- floor

def perftest_lines(floors, share):
    """Returns one line of ucx_perftest's batch language for each floor."""
    return "".join(f"{floor.key} -t {floor.test} -s {floor.size} -n {max(10, floor.count // share)} "
                   f"-w {max(10, floor.count // share // 10)}\n" for floor in floors)


def perftest_values(run, floors, stdout):
    """Returns {key: ns for a message, or GB/s} from ucx_perftest's table of commas."""
    found = {line.split(",")[0].strip(): line.split(",") for line in stdout.splitlines() if line.count(",") == 8}
    values = {}
    for floor in floors:
        row = found.get(floor.key)
        if not row:
            raise ValueError(f"ucx_perftest says nothing of {floor.key}")
        latency, megabytes, rate = float(row[4]), float(row[6]), float(row[8])
        values[f"{run.key}/{floor.key}"] = {"ns": latency * 1e3, "GB/s": megabytes * (1 << 20) / 1e9,
                                            "ns each": 1e9 / rate if rate else 0}[floor.unit]
    return values


def ucx_variables():
    return {name: value for name, value in os.environ.items() if name.startswith("UCX_")}


def perftest(options, run, folder):
    """Starts ucx_perftest on both hosts, or twice here, and returns the values of the run's floors."""
    global PORT
    PORT += 1
    batch = folder / f"perftest-{run.key}"
    batch.write_text(perftest_lines(run.floors, 10 if options.quick else 1), encoding="ascii")
    chosen = {"UCX_TLS": "posix,self"} if run.local else {**ucx_variables(), **NETWORK["perftest"]}
    words = ["env", *(f"{name}={value}" for name, value in chosen.items()), "UCX_WARN_UNUSED_ENV_VARS=n", "ucx_perftest",
             "-p", str(PORT), "-b", str(batch)]
    there = "127.0.0.1" if run.local else NAMES[0]
    wrap = (lambda host, command: command) if run.local else (lambda host, command: ["ssh", host, shlex.join(command)])
    core = (lambda number: ["-c", str(number)]) if run.local else lambda number: []
    with subprocess.Popen(wrap(NAMES[0], words + core(0)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            time.sleep(0.5)
            at = words.index("ucx_perftest") + 1
            client = [*words[:at], there, "-f", "-v", *words[at:], *core(1)]
            done = subprocess.run(wrap(NAMES[1], client), capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=FLOOR_TIMEOUT)
            return perftest_values(run, run.floors, done.stdout)
        finally:
            server.terminate()


# -------------------------------------------------------------------------------------------------- rounds

def run_program(implementation, run, programs, arguments):
    program = programs / implementation.name.partition(".")[0] / run.program
    stdout, why = runner.execute([*implementation.command(run, program), *arguments], implementation.env(run))
    if stdout is None:
        raise ValueError(why)
    return runner.values_of(run.key, stdout)


def one_round(options, run, who, programs, turn):
    """Returns {name: {key: value}}. ucx_perftest's values are among ours."""
    values, arguments = {}, [*run.args, *(["--quick"] if options.quick else [])]
    order = [each for each in who if not run.peers or each.name == "lateral" or each.name in run.peers]
    turn %= len(order)
    for implementation in order[turn:] + order[:turn]:
        try:
            values[implementation.name] = run_program(implementation, run, programs, arguments)
        except (ValueError, KeyError) as why:
            note(f"{implementation.name}: {run.key}: {why}")
    if run.floors and shutil.which("ucx_perftest"):
        try:
            values.setdefault("lateral", {}).update(perftest(options, run, programs))
        except (ValueError, subprocess.TimeoutExpired) as why:
            note(f"floor of {run.key}: {why}")
    suite.derive(run, values)
    return values


def takes(implementation, run):
    """Whether the implementation runs it: every run names its peers, says that it has none, or leaves it open."""
    if implementation.name == "lateral" or run.peers is True:
        return True
    return run.peers is not False and (not run.peers or any(name.startswith(implementation.name) for name in run.peers))


def build(who, runs, programs):
    for implementation in who:
        folder = programs / implementation.name
        if "." in implementation.name:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        runner.build_floor(programs / "floor")
        taken = [run for run in runs if takes(implementation, run)]
        failed = runner.build_programs(implementation, programs, programs / "floor", taken)
        if failed:
            raise SystemExit(f"hosts.py: {implementation.name}: {' and '.join(failed)} does not compile")


def measure(options, who, runs, programs, kept):
    """Appends rounds to `kept` and saves after each, so that an interrupted measurement loses no finished round."""
    progress = runner.Progress(options.rounds * len(runs))
    for number in range(options.rounds):
        for run in runs:
            progress.step(f"round {number + 1}: {run.key}")
            busy = machine.busy()
            turn = sum(one["run"] == run.key for one in kept["rounds"])
            kept["rounds"].append({"run": run.key, "busy": busy, "values": one_round(options, run, who, programs, turn)})
            save(kept, options)
    progress.end()


# ---------------------------------------------------------------------------------------------------- files

def rounds_file(options):
    return options.out / ("cluster" if options.cluster else "hosts") / "rounds.json"


def save(kept, options):
    rounds_file(options).parent.mkdir(parents=True, exist_ok=True)
    part = rounds_file(options).with_suffix(".part")
    part.write_text(json.dumps(kept) + "\n", encoding="utf-8")
    part.replace(rounds_file(options))


def load(options, who):
    if options.keep or options.sources:
        path = options.sources[-1] if options.sources else rounds_file(options)
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
    return {"machine": machine.describe(), "peers": {each.name: each.title for each in who[1:]}, "rounds": []}


def calm(kept):
    """Returns `kept` without the rounds before which others kept the machine busy; all rounds if it was never calm."""
    rounds = [one for one in kept["rounds"] if one["busy"] <= MOST_BUSY]
    return {**kept, "rounds": rounds or kept["rounds"]}


class Peer:
    """The part of a peer that table.compare reads."""

    def __init__(self, name):
        self.name = name


def columns(kept):
    """Returns samples[name][key]: one item for each round of the key's run, None if the round has no value."""
    names = ["lateral", *kept["peers"]]
    samples = {name: {} for name in names}
    for run in dict.fromkeys(one["run"] for one in kept["rounds"]):
        rounds = [one["values"] for one in kept["rounds"] if one["run"] == run]
        for name in names:
            for key in dict.fromkeys(key for values in rounds for key in values.get(name, {})):
                samples[name][key] = [values.get(name, {}).get(key) for values in rounds]
    return samples


def document_of(kept, rows=suite.ROWS):
    samples, peers = columns(kept), [Peer(name) for name in kept["peers"]]
    measured = {one["run"] for one in kept["rounds"]}
    counts = [sum(one["run"] == run for one in kept["rounds"]) for run in sorted(measured)]
    busy = sorted(one["busy"] for one in kept["rounds"])
    return {"when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "peers": kept["peers"],
            "machine": {**kept["machine"], "busy": busy[len(busy) // 2] if busy else 0.0},
            "rounds": f"{min(counts)} to {max(counts)}" if counts and min(counts) != max(counts) else str(max(counts or [0])),
            "lines": [table.compare(row, samples, peers) for row in rows if row.key.split("/")[0] in measured]}


# ----------------------------------------------------------------------------------------------------- main

def within_hosts(options, argv):
    """Runs this script again on the launch node. What it writes to is there already, so that tools/dev/hosts.py can refuse it."""
    options.out.mkdir(parents=True, exist_ok=True)
    slots = str(max(run.pes for run in suite.RUNS) // len(NAMES))
    os.execvp(sys.executable, [sys.executable, "-B", str(HOSTS), str(len(NAMES)), "--slots", slots, "--",
                               sys.executable, "-B", str(runner.HERE / "run.py"), *argv])


def choose(options):
    runs = [run for run in suite.RUNS if not options.only or any(run.key.startswith(name) for name in options.only)]
    if not runs:
        raise SystemExit("hosts.py: nothing is called so; there are: " + " ".join(run.key for run in suite.RUNS))
    return runs


def main(options, argv):
    if not options.sources and "LATERAL_HOSTFILE" not in os.environ:
        within_hosts(options, argv)
    if options.sources:
        kept = load(options, [])
    else:
        options.out = options.out.resolve()
        who, runs, programs = implementations(options), choose(options), options.out / "hosts"
        kept = load(options, who)
        build(who, runs, programs)
        measure(options, who, runs, programs, kept)
    document = document_of(kept if options.smoke else calm(kept))
    if options.smoke:
        return runner.smoke({**document, "failed": []})
    table.show(document["lines"], list(document["peers"]))
    print(f"\nmedians of {document['rounds']} rounds; ratios: median [quartiles]; {table.summary(document['lines'])}")
    if options.report:
        hosts_report.write(document, runner.ROOT / "docs" / "results")
    return 0
