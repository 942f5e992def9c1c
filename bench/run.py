#!/usr/bin/env python3
"""Measures Lateral, its peers and the floor of the machine in turns, and compares them.

    bench/run.py [--quick] [--only NAME] [--rounds N] [--peer NAME=PREFIX] [--report] ...
    bench/run.py --hosts [--keep] ...                     over two hosts of this machine: hosts.py
    bench/run.py --cluster HOSTFILE ...                   on the hosts of a cluster: cluster.py
    bench/run.py --threads ...                            many threads in one process: threads.py
    bench/run.py --mpi ...                                MPI's one-sided functions, with our layer and without: mpi.py
    bench/run.py --mpix ...                               the figures of the paper behind mpix_rma.h: mpix.py
    bench/run.py --against BUILD ...                      against an older build of Lateral: against.py

Every program of bench/ is plain OpenSHMEM; it is compiled with our oshcc and with that of every peer on the machine.
One round runs every program once with each of them and runs the floors, in changing order, so that a slow
moment of the machine hits all alike. The table shows medians over the rounds, and the median of the rounds' ratios
with its quartiles. suite.py lists the measurements and their targets.
"""
import argparse
import os
import sys
from pathlib import Path

import against
import cluster
import hosts
import limited
import mpi
import mpix
import node
import report
import threads
from runner import ROOT, note, smoke
from table import show, summary

def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, help="build folder of Lateral (default: build/release, else build/dev)")
    parser.add_argument("--quick", action="store_true", help="2 rounds, short batches, no large jobs")
    parser.add_argument("--full", action="store_true",
                        help="peers also do what takes them minutes: 256 PEs, and more PEs than cores for those that spin")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="runs whose name begins so, e.g. pingpong or coll-2; may be repeated")
    parser.add_argument("--rounds", type=int, help="default 5")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX",
                        help="where a peer is installed, or the folder with its oshcc and oshrun")
    parser.add_argument("--no-peers", action="store_true", help="Lateral and the floor alone")
    parser.add_argument("--against", type=Path, metavar="BUILD",
                        help="an older build folder of Lateral: both in turns, old and new beside each other, without peers and floors")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="for programs and JSON files")
    parser.add_argument("--report", action="store_true", help="also write docs/results/")
    parser.add_argument("--from", dest="sources", type=Path, action="append", metavar="JSON",
                        help="measure nothing, show a file from build/bench; may be repeated for parts of one table")
    parser.add_argument("--hosts", action="store_true", help="over two hosts made on this machine, against peers and ucx_perftest")
    parser.add_argument("--cluster", type=Path, metavar="HOSTFILE", help="on the first two hosts of this file; writes the page cluster.md")
    parser.add_argument("--threads", action="store_true", help="many threads in one process, against processes and ucx_perftest")
    parser.add_argument("--mpi", action="store_true", help="MPI's one-sided functions, each MPI with Lateral's layer and without it")
    parser.add_argument("--mpix", action="store_true", help="the figures of the paper behind mpix_rma.h, on this node and over two hosts")
    parser.add_argument("--keep", action="store_true", help="with --hosts: add to what earlier calls with --keep measured")
    parser.add_argument("--smoke", action="store_true", help="does every program run and print what the table needs?")
    options = parser.parse_args()
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds wants 1 or more")
    if options.smoke:
        options.quick, options.no_peers, options.rounds = True, True, 1
    options.short = options.quick or bool(options.against)        # programs run fewer and shorter batches
    options.rounds = options.rounds or (against.ROUNDS if options.against else mpix.ROUNDS if options.mpix else 2 if options.quick else 5)
    return options


def show_node(options):
    document = node.join(options.sources) if options.sources else node.measure(options)
    if not options.sources:
        print(f"run.py: saved {os.path.relpath(node.save(document, options.out.resolve()))}")
    if options.smoke:
        return smoke(document)
    show(document["lines"], list(document["peers"]))
    print(f"\nmedians of {document['rounds']} rounds; ratios: median [quartiles] over rounds; {summary(document['lines'])}")
    if document["machine"]["busy"] > 0.1:
        note(f"others kept the processors {document['machine']['busy']:.0%} busy meanwhile: these figures are unreliable")
    if options.report:
        report.write(document, ROOT / "docs" / "results")
    return 1 if any(name == "lateral" for name, _, _ in document["failed"]) else 0


def main():
    limited.end_on_signals()
    options = parse()
    if options.cluster:
        return cluster.main(options)
    if options.hosts:
        return hosts.main(options, sys.argv[1:])
    if options.threads:
        return threads.main(options)
    if options.mpi:
        return mpi.main(options)
    if options.mpix:
        return mpix.main(options, sys.argv[1:])
    if options.against:
        return against.main(options)
    return show_node(options)


if __name__ == "__main__":
    sys.exit(main())
