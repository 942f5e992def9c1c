"""Measures on the hosts of a cluster and writes the page: `./dev bench --cluster HOSTFILE`.

    HOSTFILE    lines "host slots=N", as oshrun reads them; the first two hosts take part

Lateral runs twice in every round: as it chooses itself, and with messages alone (LATERAL_WIRE=messages), so that the page
shows what the network's own puts and gets are worth there. Open MPI of the same machine and ucx_perftest, the floor, run
beside them as for `--hosts`. All use the network that UCX chooses; UCX_ variables of the caller reach all of them. The
folder of the build must be at the same place on all hosts, and ssh must reach them.

The page and its figures go to build/bench/cluster: cluster.md, rounds.json.
"""
import os
import re

import hosts
import hosts_suite as suite
import machine
import report
import runner
import table

TEXT = """# On a cluster

Written by `./dev bench --cluster` on {when} UTC, on the hosts {names}.

The first host: {machine}. Kernel {kernel}, {compiler}.
{rounds} rounds, all in turns; values are medians over the rounds, a ratio is the median of the rounds' ratios with its quartiles.
Beside Lateral: {peers}. The floor is ucx_perftest on the same two hosts. UCX chose the network{chosen}. {noise}

Where the column of messages alone is equal to Lateral's, the network does not put and get by itself, or the operation is a
message on every network (docs/guide/networks.md).
"""


class Messages(hosts.Lateral):
    """Lateral again, without the network's own puts and gets. The point in the name makes it share Lateral's programs."""
    name, title = "lateral.messages", "Lateral with messages alone"

    def env(self, run):
        return {**super().env(run), "LATERAL_WIRE": "messages"}


def read_hosts(path):
    """Returns [(host, slots)] of a hostfile; a host without slots has one for each of its lines."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        match = re.fullmatch(r"(\S+?)(?::(\d+))?(?:\s+(?:max_)?slots=(\d+).*)?", " ".join(words))
        if not match:
            raise SystemExit(f"cluster.py: {path}:{number}: expected 'host slots=N', found '{line}'")
        found[match[1]] = found.get(match[1], 0) + int(match[2] or match[3] or 1)
    if len(found) < 2:
        raise SystemExit(f"cluster.py: {path} names {len(found)} host(s); two are needed")
    return list(found.items())


def runs_of(options, slots):
    """Returns the runs over hosts that have room, without those of one node."""
    runs = [run for run in hosts.choose(options) if not run.local and run.pes <= len(hosts.NAMES) * slots]
    if not runs:
        raise SystemExit(f"cluster.py: {slots} slots a host are too few for what is chosen")
    return runs


def write(document, folder, names):
    about = document["machine"]
    chosen = "".join(f", with {name}={os.environ[name]}" for name in ("UCX_TLS", "UCX_NET_DEVICES") if name in os.environ)
    parts = [TEXT.format(when=document["when"], names=" and ".join(names), machine=report.machine_text(about),
                         kernel=about["kernel"], compiler=about["compiler"], rounds=document["rounds"], chosen=chosen,
                         peers=", ".join(document["peers"].values()), noise=report.noise_text(about))]
    for section in dict.fromkeys(line["section"] for line in document["lines"]):
        lines = [line for line in document["lines"] if line["section"] == section]
        parts.append(f"## {section}\n\n" + report.write_table(lines, list(document["peers"]), table.cells, table.headings) + "\n")
    page = folder / "cluster.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def main(options):
    there = read_hosts(options.cluster)[:len(hosts.NAMES)]
    hosts.NAMES[:] = [name for name, _ in there]
    hosts.NETWORK.update(mpi=[], perftest={})
    options.out = options.out.resolve()
    lateral, *peers = hosts.implementations(options)
    who = [lateral, Messages(runner.find_build(options)), *peers]
    runs, folder = runs_of(options, min(slots for _, slots in there)), options.out / "cluster"
    kept = {"machine": machine.describe(), "peers": {each.name: each.title for each in who[1:]}, "rounds": []}
    hosts.build(who, runs, folder)
    hosts.measure(options, who, runs, folder, kept)
    rows = [row._replace(against=None, limit=None) for row in suite.ROWS]  # the targets are those of other machines
    document = hosts.document_of(kept, rows)
    page = write(document, folder, hosts.NAMES)
    if options.smoke:
        return runner.smoke({**document, "failed": []})
    table.show(document["lines"], list(document["peers"]))
    print(f"\ncluster.py: wrote {os.path.relpath(page)}")
    return 0 if any(line["ours"] is not None for line in document["lines"]) else 1
