"""Measures one node: every program once in each round with Lateral, its peers and the floors, in changing order."""
import json
import statistics
import time

import machine
import runner
import suite
import table


class Session:
    """All values that one invocation measures. samples[name of implementation][key] is a list, one item per round."""

    def __init__(self, options, implementations, out, floors=True):
        self.options, self.out, self.floors = options, out, floors
        self.implementations = implementations
        self.samples = {i.name: {} for i in implementations}
        self.failed = {}                                   # (implementation, run) -> why
        self.busy = []                                     # by others, before each round

    def build(self, runs):
        runner.build_floor(self.out / "floor")
        for implementation in self.implementations:
            for program in runner.build_programs(implementation, self.out, self.out / "floor", runs):
                self.failed.update({(implementation.name, run.key): "does not compile" for run in runs if run.program == program})

    def keep(self, name, values, round_number):
        for key, value in values.items():
            column = self.samples[name].setdefault(key, [None] * self.options.rounds)
            column[round_number] = value

    def command(self, implementation, run):
        program = self.out / implementation.name / run.program
        quick = ["--quick"] if self.options.short and run.kind == "program" else []
        return [*implementation.launch, "-n", run.pes, program, *run.args, *quick]

    def run_one(self, implementation, run, round_number):
        if (implementation.name, run.key) in self.failed:
            return
        if runner.takes_minutes(implementation, run) and not self.options.full:
            return
        stdout, result = runner.execute(self.command(implementation, run), implementation.env)
        try:
            if stdout is None:
                raise ValueError(result)
            values = {f"{run.key}/time": result * 1e3} if run.kind == "timed" else runner.values_of(run.key, stdout)
        except (ValueError, KeyError) as why:
            self.failed[(implementation.name, run.key)] = str(why)
            runner.note(f"{implementation.name}: {run.key}: {why}")
            return
        self.keep(implementation.name, values, round_number)

    def run_floor(self, run, round_number):
        """Runs the floors that are programs of their own. Their values are kept among ours, because
        a round's ratios use both."""
        folder = self.out / "floor"
        if run.kind == "timed":
            stdout, result = runner.execute([folder / "floor_spawn", run.pes, folder / "floor_nothing"], {})
            values = {f"floor/spawn-{run.pes}": result * 1e3} if stdout is not None else {}
        else:
            stdout, result = runner.execute([folder / "floor_hop", *(["--quick"] if self.options.quick else [])], {})
            values = runner.values_of("floor", stdout) if stdout is not None else {}
        if not values:
            runner.note(f"floor of {run.key}: {result}")
        self.keep("lateral", values, round_number)

    def measure(self, runs):
        with_floor = [run for run in runs if self.floors and (run.kind == "timed" or run.program == "pingpong")]
        progress = runner.Progress(self.options.rounds * (len(runs) * len(self.implementations) + len(with_floor)))
        for number in range(self.options.rounds):
            self.busy.append(machine.busy())
            for run in runs:
                turn = number % len(self.implementations)
                for implementation in self.implementations[turn:] + self.implementations[:turn]:
                    progress.step(f"round {number + 1}: {run.key} {implementation.name}")
                    self.run_one(implementation, run, number)
                if run in with_floor:
                    progress.step(f"round {number + 1}: floor of {run.key}")
                    self.run_floor(run, number)
        progress.end()


def choose_runs(options):
    runs = [run for run in suite.RUNS if run.quick or not options.quick]
    chosen = [run for run in runs if not options.only or any(run.key.startswith(name) for name in options.only)]
    if not chosen:
        raise SystemExit(f"run.py: nothing is called {' or '.join(options.only)}; there are: "
                         + " ".join(run.key for run in runs))
    return chosen


def wanted_rows(runs):
    keys = {run.key for run in runs} | ({"floor"} if any(run.program == "pingpong" for run in runs) else set())
    return [row for row in suite.ROWS if row.key.split("/")[0] in keys]


def measure(options):
    """Builds, measures and compares. Returns the document to save."""
    out, runs = options.out.resolve(), choose_runs(options)
    about = machine.describe()
    ours = machine.lateral(runner.find_build(options))
    peers = [] if options.no_peers else machine.find_peers(ours.oshcc.parent, options.peer)
    if not peers and not options.no_peers:
        runner.note("no peer here; on Debian, apt-get install libopenmpi-dev gives one")
    session = Session(options, [ours, *peers], out)
    session.build(runs)
    session.measure(runs)
    about["busy"] = statistics.median(session.busy)
    lines = [table.compare(row, session.samples, peers) for row in wanted_rows(runs)]
    return {"when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "machine": about, "rounds": options.rounds,
            "quick": options.quick, "peers": {p.name: p.title for p in peers}, "lines": lines,
            "failed": [[name, run, why] for (name, run), why in session.failed.items()], "samples": session.samples}


def save(document, out, name="bench"):
    path = out / time.strftime(f"{name}-%Y%m%d-%H%M%S.json")
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path


def join(sources):
    """Joins documents of different runs on one machine with the same peers into one, and returns it."""
    parts = [json.loads(source.read_text(encoding="utf-8")) for source in sources]
    whole, alike = dict(parts[0]), ("peers", "rounds", "quick")
    if any(part[what] != whole[what] for part in parts for what in alike):
        raise SystemExit("run.py: these files differ in peers, rounds or --quick, so they are no parts of one table")
    lines = {line["key"] + line["question"]: line for part in parts for line in part["lines"]}
    whole["lines"] = [lines[row.key + row.question] for row in suite.ROWS if row.key + row.question in lines]
    whole["failed"] = [failed for part in parts for failed in part["failed"]]
    whole["machine"] = {**whole["machine"], "busy": max(part["machine"]["busy"] for part in parts)}
    whole["samples"] = {name: {key: value for part in parts for key, value in part["samples"][name].items()}
                        for name in whole["samples"]}
    return whole
