#!/usr/bin/env python3
"""Measures Lateral, its peers and the machine itself in turns, and compares them.

    bench/run.py [--quick] [--only NAME] [--rounds N] [--peer NAME=PREFIX] [--report] ...     one node
    bench/run.py --hosts | --threads | --mpi | --mpix | --looking | --ofi | --scale | --apps ...     the other pages
    bench/run.py --all --report [--minutes N]             every page; after an interruption the same command goes on
    bench/run.py --cluster HOSTFILE ...                   on the first two hosts of a cluster
    bench/run.py --against TREE ...                       any page against an older build of Lateral (./dev bench: or a revision)
    bench/run.py --guard                                  instructions of hot operations, held to their budgets

One round runs every program of a page once with Lateral and with each of its peers, in changing order, so that a slow moment of the machine
hits all alike. Where --minutes are short, long programs have fewer rounds. The table shows medians over the rounds, and the median of the rounds'
ratios with its quartiles. Rounds in which others were busy, or in which a hypervisor moved a core, so that a cache line took longer from one to the
other, are left out, unless all are. The rounds lie in build/bench/PAGE.json, saved after each program.
A peer that is not here is a note and a row without its value.
"""
import argparse
import os
import re
import statistics
import sys
import time
import traceback
from pathlib import Path

import guard
import limited
import machine
import pages
import report
import rows
import runner
import ways
from runner import ROOT, note

WORSE, OLD = 1.05, "old"


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, help="build folder of Lateral (default: build/release, else build/dev)")
    parser.add_argument("--quick", action="store_true", help="2 rounds, short batches, no large jobs")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="runs whose name begins so, e.g. latency or coll-2; may be repeated")
    parser.add_argument("--rounds", type=int, help="at most; default 5; 9 with --against")
    parser.add_argument("--minutes", type=float, help="of measuring, shared among the pages; each run has one round at least; default 30 with --all")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX",
                        help="where a peer is installed, or the folder with its oshcc and oshrun")
    parser.add_argument("--no-peers", action="store_true", help="Lateral and the machine itself alone")
    parser.add_argument("--against", type=Path, metavar="TREE",
                        help="an older build folder of Lateral, or its tree: both in turns, old and new beside each other, alone")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="for programs and JSON files")
    parser.add_argument("--report", action="store_true", help="also write docs/results/ and the tables of README.md")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="all pages; goes on where an interrupted call has stopped")
    which.add_argument("--cluster", type=Path, metavar="HOSTFILE", help="on the first two hosts of this file; writes the page cluster.md")
    for page in list(pages.ALL.values())[1:]:
        which.add_argument(f"--{page.name}", action="store_true", help=f"the page '{page.title}'")
    which.add_argument("--guard", action="store_true", help="count instructions of hot operations; fails where one passes its budget")
    parser.add_argument("--smoke", action="store_true", help="does every program run and print what the table needs?")
    parser.add_argument("--within", help=argparse.SUPPRESS)  # the page whose runs over hosts this call measures, on their launch node
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)  # the time on the monotonic clock at which no further round begins
    options = parser.parse_args(argv)
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds wants 1 or more")
    if options.smoke:
        options.quick, options.no_peers, options.rounds = True, True, 1
    options.short = options.quick or bool(options.against)        # programs run fewer and shorter batches
    options.rounds = options.rounds or (9 if options.against else 2 if options.quick else 5)
    options.minutes = options.minutes or (30 if options.all and not options.quick else None)
    if options.minutes and not options.until:
        options.until = time.monotonic() + 60 * options.minutes
    options.out = options.out.resolve()
    return options


# ---------------------------------------------------------------------------------------------- what is measured

def chosen(options, page):
    runs = [run for run in page.runs if (run.quick or not options.quick) and (not options.only or any(run.key.startswith(name) for name in options.only))]
    if not runs and not options.all:
        raise SystemExit(f"run.py: nothing is called {' or '.join(options.only)}; there are: " + " ".join(run.key for run in page.runs))
    return runs


def cluster_runs(options):
    """Makes the first two hosts of the hostfile those of all ways. Returns the page with the runs that have room."""
    found = {}
    for number, line in enumerate(options.cluster.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        match = re.fullmatch(r"(\S+?)(?::(\d+))?(?:\s+(?:max_)?slots=(\d+).*)?", " ".join(words))
        if words and not match:
            raise SystemExit(f"run.py: {options.cluster}:{number}: expected 'host slots=N', found '{line}'")
        if words:
            found[match[1]] = found.get(match[1], 0) + int(match[2] or match[3] or 1)
    if len(found) < 2:
        raise SystemExit(f"run.py: {options.cluster} names {len(found)} host(s); two are needed")
    ways.HOSTS[:] = list(found)[:2]
    ways.NETWORK.clear()
    slots = min(found[name] for name in ways.HOSTS)
    used = [f"{name}={os.environ[name]}" for name in ("LATERAL_TRANSPORTS", "FI_PROVIDER", "UCX_TLS", "UCX_NET_DEVICES") if name in os.environ]
    return pages.CLUSTER._replace(runs=[run for run in pages.CLUSTER.runs if run.count <= 2 * slots],
                                  text=f"The hosts: {' and '.join(ways.HOSTS)}{', with ' + ' '.join(used) if used else ''}. {pages.CLUSTER.text}")


def ways_of(options, page, build):
    who = page.ways(options, build)
    if not options.against:
        return who
    options.no_peers = True
    older = page.ways(options, runner.find_build(options.against.resolve()))
    return [way for way in who if way.ours] + [way._replace(name=f"{way.name}.{OLD}", folder=f"{way.folder or way.name}.{OLD}") for way in older if way.ours]


def rounds_file(options, page):
    return options.out / (f"{page.name}-against.json" if options.against else f"{page.name}.json")


def measure(options, page, argv):
    """Measures what the page lacks. Returns its rounds and ways."""
    build, path = runner.find_build(options.build), rounds_file(options, page)
    out = path.with_suffix("")
    out.mkdir(parents=True, exist_ok=True)
    who, runs = ways_of(options, page, build), chosen(options, page)
    inside = options.within or options.cluster
    about = {**machine.describe(), "tree": machine.tree(ROOT, build), "ways": {way.name: way.title for way in who}, "against": str(options.against),
             "ours": [way.name for way in who if way.ours]}
    kept = runner.Rounds(path, about, options.short)
    if path.exists() and (options.within or options.all):
        older = runner.Rounds(path, about, options.short).load()
        same = all(older.about.get(what) == about[what] for what in ("tree", "ways", "against")) and older.quick == options.short
        kept = older if options.within or same and not older.shown else kept
    kept.shown = False
    kept.save()
    session = runner.Session(options, page, who, out, kept)
    there = [run for run in runs if run.place == "hosts"]
    here = there if inside else [run for run in runs if run.place != "hosts"]
    session.measure(here, runner.share(options.until, here, [] if inside else there))
    if there and not inside:
        kept = over_hosts(options, page, there, kept, argv)
    return kept


def over_hosts(options, page, runs, kept, argv):
    if not runner.hosts_are_here():
        note("nothing is measured over hosts here (tools/dev/hosts.py --check says why)")
        if options.smoke and not kept.rounds:
            raise SystemExit(77)
        return kept
    slots = max(run.count for run in runs) // len(ways.HOSTS)
    status = runner.within_hosts(slots, [*argv, "--within", page.name, *(["--until", options.until] if options.until else [])])
    if status < 0 or status > 128:
        raise SystemExit(status)
    if status:
        note(f"the runs over hosts of the page '{page.title}' ended with status {status}")
    return runner.Rounds(kept.path, kept.about, kept.quick).load()


# ---------------------------------------------------------------------------------------------- what comes of it

def document_of(page, kept):
    about, counts, failed = kept.about, {}, {}
    samples = kept.samples(about["ways"])
    for one in kept.rounds:
        counts[one["run"]] = counts.get(one["run"], 0) + 1
        failed.update({(way, one["run"]): why for way, why in one["failed"].items()})
    plain = [name for name in about["ways"] if name not in about["ours"]]
    lines = [rows.compare(row, about["ours"], plain, samples) for row in page.rows
             if row.key.rpartition("/")[0] in counts or any(row.key in samples[name] for name in about["ours"])]
    for line in lines:
        line["unit"] = kept.units.get(line["key"], "")
    least, most = min(counts.values(), default=0), max(counts.values(), default=0)
    used = {series.key.format(point) for figure in page.figures for panel in figure.panels for series in panel.series for point in panel.points}
    used.update(key for line in lines for key in (line["key"], line["reference"]) if key)
    values = {name: {key: rows.quartiles(of[key]) for key in of if key in used} for name, of in samples.items()}
    busy, hops = [one["busy"] for one in kept.rounds], [hop for one in kept.rounds for hop in one["hops"]]
    return {"page": page.name, "when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "tree": about["tree"], "quick": kept.quick,
            "machine": {key: about.get(key) for key in ("processor", "cores", "virtual", "kernel", "compiler", "cache", "ucx")}
            | {"hop": rows.quartiles(hops), "busy": statistics.median(busy) if busy else 0.0},
            "rounds": str(most) if least == most else f"{least} to {most}", "seconds": sum(one.get("seconds", 0) for one in kept.rounds),
            "absent": [peer for peer in page.peers if not any(title.startswith(peer) for title in about["ways"].values())], "ways": about["ways"], "ours": about["ours"], "each": page.each,
            "failed": [[way, run, why] for (way, run), why in failed.items()], "lines": lines, "values": values}


def compare_trees(page, kept):
    """Shows old and new beside each other. "worse": more than 5 % worse in at least three of four rounds; "unsure": by the median alone."""
    samples, table, sections = kept.samples(kept.about["ways"]), [], []
    for row in {row.key: row for row in reversed(page.rows)}.values():
        for way in [name for name in kept.about["ours"] if not name.endswith(OLD)]:
            new, old = samples[way].get(row.key), samples.get(f"{way}.{OLD}", {}).get(row.key)
            if not new and not old:
                continue
            spread = rows.ratio(new, old)
            low, middle = (1 / spread[2], 1 / spread[1]) if spread and row.at_least else spread[:2] if spread else (None, None)
            word = "not measured" if not spread else "" if middle <= WORSE else "worse" if low > WORSE else "unsure"
            sections.append(row.section)
            table.append([row.question.partition(", against")[0] + ("" if way == "lateral" else f" ({way})"), kept.units.get(row.key, ""),
                          *[rows.number((rows.quartiles(of) or [None] * 2)[1]) for of in (old, new)], rows.spread_text(spread), word])
    report.write_columns(["question", "unit", "old", "new", "new/old", ""], table[::-1], sections[::-1])
    marks = [row[-1] for row in table]
    print(f"\n{marks.count('worse')} of {len(marks)} lines worse, {marks.count('unsure')} unsure; rounds in {os.path.relpath(kept.path)}")
    return 1 if "worse" in marks or any(one["failed"] for one in kept.rounds) else 0


def one_page(options, page, argv):
    kept = measure(options, page, argv)
    if options.within:
        return 0
    if options.against:
        return compare_trees(page, kept)
    document = document_of(page, kept)
    if options.smoke:
        missing = [line["key"] for line in document["lines"] if not any(line["key"] in document["values"][way] for way in document["ours"])]
        for key in missing:
            note(f"no value for {key}")
        return 1 if missing or document["failed"] or not document["lines"] else 0
    if not document["lines"]:
        note(f"nothing was measured for the page '{page.title}'; it stays as it is")
        return 1
    report.show(document)
    if options.cluster:
        report.write(page, document, options.out / "cluster")
    elif options.report:
        report.write(page, document)
    return 1 if any(way in document["ours"] for way, _, _ in document["failed"]) else 0


def page_or_word(options, page, argv):
    """Measures a page of several. What it lacks on this machine is told, and the others go on."""
    try:
        return one_page(options, page, argv)
    except SystemExit as why:
        if not isinstance(why.code, str):                  # ended from outside
            raise
        note(why.code)
    except Exception:
        traceback.print_exc()
        note(f"the page '{page.title}' is not written")
    return 1


def every_page(options, argv):
    """Measures all pages. The rounds of each are kept until the last page is done, so that the same command goes on where it was ended."""
    chosen_pages, status, end = [page for page in pages.ALL.values() if chosen(options, page)], 0, options.until
    for number, page in enumerate(chosen_pages):
        options.until = end and runner.share(end, chosen(options, page), [run for later in chosen_pages[number + 1:] for run in chosen(options, later)])
        status = max(status, page_or_word(options, page, argv))
    for path in [rounds_file(options, page) for page in chosen_pages]:
        if path.exists():
            kept = runner.Rounds(path, {}, False).load()
            kept.shown = True
            kept.save()
    return status


def main(argv):
    limited.end_on_signals()
    options = parse(argv)
    if options.guard:
        return guard.main(runner.find_build(options.build), options.only)
    if options.cluster:
        return one_page(options, cluster_runs(options), argv)
    if options.all and not options.within:
        return every_page(options, argv)
    name = options.within or next((name for name in list(pages.ALL)[1:] if getattr(options, name)), "node")
    return one_page(options, pages.ALL[name], argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
