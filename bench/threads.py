"""Measures many threads in one process (the experiments of UCCS): `./dev bench --threads`.

In every round each program runs once with Lateral and, if it is plain OpenSHMEM, with Open MPI, in changing order.
ucx_perftest with threads runs beside them. threads_suite.py lists the measurements; --report writes
docs/results/threads.md and its picture.
"""
import os
import shutil
import subprocess
import time

import hosts
import machine
import runner
import table
import threads_report
import threads_suite as suite

PORT, FLOOR_TIMEOUT = 13900, 10


class Ours:
    """Lateral on this node, with the interface of hosts.py's class."""

    name, title = "lateral", "Lateral"

    def __init__(self, build):
        self.oshcc, self.oshrun = build / "bin" / "oshcc", build / "bin" / "oshrun"

    def command(self, run, program):
        return [self.oshrun, "-q", "-n", run.pes, program]

    def env(self, _run):
        return {}


class OpenMpi:
    """Its memory hooks crash at exit in Debian 12's 4.1.4, so they stay off. Unbound, because bound
    threads would all share one core."""

    def __init__(self, peer):
        self.oshcc, self.mpirun, self.name, self.title = peer.oshcc, peer.oshcc.parent / "mpirun", "openmpi", peer.title

    def command(self, run, program):
        return [self.mpirun, "--bind-to", "none", "--oversubscribe", "--mca", "opal_common_ucx_opal_mem_hooks", "0",
                "--mca", "mpi_yield_when_idle", "1", "-x", "UCX_TLS=posix,self", "-n", run.pes, program]

    def env(self, _run):
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def implementations(options):
    build = runner.find_build(options)
    peers = [] if options.no_peers else machine.find_peers(build / "bin", options.peer)
    return [Ours(build), *[OpenMpi(peer) for peer in peers if peer.title.startswith("Open MPI")][:1]]


def perftest(floor, quick, port):
    """Returns GB/s, or millions of messages a second. Each test has a process of its own, because some do not end."""
    words = ["ucx_perftest", "-p", str(port), "-t", floor.test, "-s", str(floor.size), "-w", "10",
             "-n", str(max(20, floor.count // (10 if quick else 1)))]
    words += ["-T", str(floor.threads), "-M", "multi"] if floor.threads > 1 else []
    env = {**os.environ, "UCX_TLS": "posix,self", "UCX_WARN_UNUSED_ENV_VARS": "n"}
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env) as server:
        try:
            time.sleep(0.3)
            done = subprocess.run([*words, "-f", "-v", "127.0.0.1"], capture_output=True, text=True, check=False, env=env,
                                  stdin=subprocess.DEVNULL, timeout=FLOOR_TIMEOUT)
        finally:
            server.kill()
    row = [line.split(",") for line in done.stdout.splitlines() if line.strip()[:1].isdigit()][-1:]
    if not row:
        raise ValueError("it says nothing")
    megabytes, rate = (row[0][-3], row[0][-1]) if floor.threads == 1 else (row[0][-2], row[0][-1])
    return float(rate) / 1e6 if floor.test == "ucp_am_bw" else float(megabytes) * (1 << 20) / 1e9


class Samples:
    """samples[name][key] has an item for each round, None if the round has no value."""

    def __init__(self, who, rounds):
        self.rounds, self.of = rounds, {each.name: {} for each in who}

    def keep(self, name, values, number):
        for key, value in values.items():
            self.of[name].setdefault(key, [None] * self.rounds)[number] = value


def one_run(options, run, who, number, samples, programs):
    turn = number % len(who)
    for each in who[turn:] + who[:turn]:
        if each.name != "lateral" and not run.peers:
            continue
        command = [*each.command(run, programs / each.name / run.program), *run.args, *(["--quick"] if options.quick else [])]
        stdout, why = runner.execute(command, each.env(run))
        if stdout is None:
            runner.note(f"{each.name}: {run.key}: {why}")
        else:
            samples.keep(each.name, runner.values_of(run.key, stdout), number)


def measure(options, who, runs, programs):
    samples, busy = Samples(who, options.rounds), []
    floors = suite.FLOORS if shutil.which("ucx_perftest") and not options.no_peers else []
    progress, dead, port = runner.Progress(options.rounds * (len(runs) + len(floors))), set(), PORT
    for number in range(options.rounds):
        for run in runs:
            busy.append(machine.busy())
            progress.step(f"round {number + 1}: {run.key}")
            one_run(options, run, who, number, samples, programs)
        for floor in floors:
            progress.step(f"round {number + 1}: ucx_perftest {floor.key}")
            port += 1
            try:
                if floor.key not in dead:
                    samples.keep("lateral", {f"perftest/{floor.key}": perftest(floor, options.quick, port)}, number)
            except (ValueError, subprocess.TimeoutExpired) as why:
                dead.add(floor.key)
                runner.note(f"ucx_perftest {floor.key}: {why}")
    progress.end()
    return samples.of, sorted(busy)[len(busy) // 2]


def main(options):
    runs = [run for run in suite.RUNS if not options.only or any(run.key.startswith(name) for name in options.only)]
    who, programs = implementations(options), options.out.resolve() / "threads"
    hosts.build(who, runs, programs)
    samples, busy = measure(options, who, runs, programs)
    measured = {run.key for run in runs}
    lines = [table.compare(row, samples, who[1:]) for row in suite.ROWS if row.key.split("/")[0] in measured]
    document = {"when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "machine": {**machine.describe(), "busy": busy},
                "rounds": options.rounds, "peers": {each.name: each.title for each in who[1:]}, "lines": lines, "failed": [],
                "values": {name: {key: table.median(values) for key, values in of.items()} for name, of in samples.items()}}
    if options.smoke:
        return runner.smoke(document)
    table.show(lines, list(document["peers"]))
    print(f"\nmedians of {document['rounds']} rounds; ratios: median [quartiles] over rounds; {table.summary(lines)}")
    if options.report:
        threads_report.write(document, runner.ROOT / "docs" / "results")
    return 0
