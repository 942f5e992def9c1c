"""Times as functions of the number of nodes: nodes are pretended on this machine, and what they share is taken out."""
import math

import machine
import ways
from rows import Beside, Page, Row, Run

TEXT = """Each node is pretended: one PE, which reaches the others over TCP of this machine alone (LATERAL_NODE_SIZE=1). So N nodes share its
processors, and the wall time of an operation is N times what one node's processor does, and switches between processes. "A node and
round": the time is divided by the nodes for each processor and by ceil(log2 N), the rounds of the operation; a broadcast, which sends N - 1
messages in all, is divided by the nodes for each processor alone. What does not grow with N there grows with log N on nodes that have processors of their
own.

"The floor" is a barrier of N processes that send ceil(log2 N) messages of 72 bytes each over TCP of this machine and give their core
away until one has come, without any library: what it takes more with more processes is this machine's. "In floors": our time by the
floor's. It grows from 16 to 256 nodes, likely by what 256 processes of 5 MiB and their progress threads cost each other on two cores. A
node sends exactly log2 N messages for each barrier and each sum: 4, 6 and 8 of 16, 64 and 256 nodes, counted at the system calls of the PEs.
"Computed", for jobs that this machine cannot hold, is the node and round of the largest job times the rounds, with the cost of sharing in it; the
time of the network is to be added once a round. PEs of one node add the time of a collective within a node, which [the other page](README.md) has.

A sum sends what a barrier does, an element in each message. Where N is no power of two it takes one round more. A start asks the launcher by
a tree whose levels grow with log P: with 100,000 PEs on 1,000 nodes PE 0 asks 134 questions in all, with 10^6 on 15,625 nodes 189 (computed;
at 50 us each, 7 and 10 ms), and waits in 11 fences.

A window of MPI is made by one allreduce of the MPI, of 40 bytes, and its ranks reach each other when they first need each other: for a barrier,
and so for a fence and for the end of the window, the log2 N ranks that it tells. So a rank takes bytes for the ranks that it reaches, a page at
most for its row of each and some 200 bytes beside it, and a node's 100 ranks 17 times that for the barriers of 100,000 ranks. Times hold the MPI's
own part and MPI_Win_free. A report of a hang is the picture that `--timeout`, `--deadlock` and Ctrl-\\ print too, asked for by `oshrun --status`;
it grows with the PEs of a host, and pretended nodes are one host.

A start is a whole job of oshrun that does nothing: processes of one machine start one after the other, which nodes do side by side. What the
PEs of several hosts ask of a launcher, and which of it is not log N, is counted in [the cost of a start](../guide/startup.md); watchers
and their reports in [nodes](../internals/nodes.md#watchers-and-what-they-cost); windows of MPI within a node in [mpi.md](mpi.md)."""

NODES, LARGE = (2, 4, 16, 64, 256), {1000: "100,000 PEs on 1,000 nodes", 15625: "10^6 PEs on 15,625 nodes"}
OPERATIONS = {"barrier_all": "barrier_all", "sum": "sum of one long", "broadcast": "broadcast of one long"}
COMPUTED = ("barrier_all", "sum")
OURS, LAYER = ("lateral",), ("openmpi+", "mpich+")
FLOOR = (Beside("floor", "barrier"),)
RUNS = [Run(f"{name}-{nodes}", program, nodes, args, "pretended", False, beside, rounds=3, quick=nodes <= 4, ours=who, limit=120 if nodes > 16 else 30)
        for name, program, args, who, beside in (("barrier", "barrier", ("--small",), OURS, FLOOR), ("rss", "rss", (), OURS, ()),
                                                 ("windows", "mpi/creation", (), LAYER, ()), ("hang", "hang", (), OURS, ())) for nodes in NODES] + \
       [Run(f"launch-{nodes}", "launch", nodes, (), "pretended", False, kind="timed", quick=nodes <= 4, ours=OURS) for nodes in NODES]


def every(options, build):
    """Returns Lateral and its layer on the first MPI of the system that has one."""
    try:
        layers = [way for way in ways.mpis(False)(options, build) if way.name in LAYER]
    except SystemExit:
        layers = []
    return [ways.lateral(build), *sorted(layers, key=lambda way: LAYER.index(way.name))[:1]]


def derive(run, values):
    """Takes out what nodes share of this machine's processors, and computes larger jobs."""
    ours = values.setdefault("lateral", {})
    shared, depth = run.count / machine.cores(), math.ceil(math.log2(run.count))
    for name in OPERATIONS:
        if f"{run.key}/{name}" in ours:
            each = ours[f"{run.key}/{name}"] / (shared if name == "broadcast" else shared * depth)
            ours[f"{run.key}/{name}.each"] = each
            if name in COMPUTED:
                ours[f"{run.key}/{name}.floors"] = ours[f"{run.key}/{name}"] / ours[f"{run.key}/floor"] if f"{run.key}/floor" in ours else None
                more = {nodes: name == "sum" and nodes & (nodes - 1) != 0 for nodes in LARGE}
                ours.update({f"{run.key}/{name}.{nodes}": each * (math.ceil(math.log2(nodes)) + more[nodes]) for nodes in LARGE})


def rows():
    for name, title in OPERATIONS.items():
        counted = "floors" if name in COMPUTED else "each"
        for nodes in NODES:
            yield Row(title, f"{nodes} nodes", f"barrier-{nodes}/{name}", f"barrier-{nodes}/floor" if name in COMPUTED else None)
        for nodes in NODES:
            yield Row(title, f"a node and round, {nodes} nodes", f"barrier-{nodes}/{name}.each", f"barrier-16/{name}.each")
        yield Row(title, f"{'in floors' if name in COMPUTED else 'a node'}, {NODES[-1]} nodes against 16", f"barrier-{NODES[-1]}/{name}.{counted}",
                  f"barrier-16/{name}.{counted}", "reference", 1.25)
        for nodes, what in LARGE.items() if name in COMPUTED else ():
            yield Row(title, f"computed: {what}", f"barrier-{NODES[-1]}/{name}.{nodes}")
    for nodes in NODES:
        yield Row("Start", f"{nodes} nodes", f"launch-{nodes}/time")
    for name, title in (("time", "to make and free it"), ("memory", "bytes of a rank")):
        for nodes in NODES:
            yield Row("Windows of MPI, a rank a node", f"{title}, {nodes} nodes", f"windows-{nodes}/{name}")
    for nodes in NODES:
        yield Row("Report of a hang", f"{nodes} nodes", f"hang-{nodes}/status")
    for when, title in (("after_init", "at the start"), ("after_use", "after a put to every other node")):
        for nodes in NODES:
            yield Row("Resident memory of a PE", f"{title}, {nodes} nodes", f"rss-{nodes}/{when}")


PAGE = Page("scale", "scale.md", "Many nodes", TEXT, RUNS, list(rows()), [], every, derive=derive)
