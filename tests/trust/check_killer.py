"""Kills processes of jobs at moments that a seed decides: oshrun, its supervisor, its reaper, PEs, several at once, with and without
a wrapper script, on one node and on pretended ones. Whatever is killed, all processes of the job and all that they have
started are gone in 3 seconds, and a job whose oshrun lives ends with a status other than 0. Of the launcher's three processes one is
left when wrapper scripts start the PEs: before these run, nobody else knows what a script has started."""
import argparse
import contextlib
import ctypes
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SOON = 3.0


def soon():
    """A machine with many more runnable processes than processors gives each of ours so much less time."""
    return SOON * max(1, os.getloadavg()[0] / (4 * os.cpu_count()))


CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "SHMEM_", "SLURM_", "UCX_"))}
WRAPPER = "#!/bin/sh\nsleep 1000 &\n\"$@\"\nexit $?\n"


def children(pid):
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def family(pid):
    """The process and all below it, itself first."""
    found = [pid]
    for one in found:
        found += children(one)
    return found


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()[:60]
    except OSError:
        return "?"


def parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def reap(but):
    for pid in children(os.getpid()):
        if pid != but:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Killer:
    def __init__(self, options):
        self.options, self.rng = options, random.Random(options.seed)
        self.wrapper = tempfile.NamedTemporaryFile("w", prefix="wrapper", suffix=".sh", delete=False)
        self.wrapper.write(WRAPPER)
        self.wrapper.close()
        os.chmod(self.wrapper.name, 0o755)
        self.wrong = []

    def command(self):
        pes = self.rng.choice((2, 3, 4))
        words = [self.options.oshrun, "-n", str(pes)]
        words += [self.wrapper.name] if self.rng.random() < 0.4 else []
        nodes = self.rng.random() < self.options.nodes
        network = self.rng.choice(self.options.networks.split(","))
        env = {"LATERAL_NODE_SIZE": str(self.rng.choice((1, 2))), "LATERAL_TRANSPORTS": network, "UCX_TLS": "tcp,self"} if nodes else {}
        return words + [self.options.program, "for ever"], env

    def is_sleep(self, pid):
        """What a wrapper script has started to sleep, or is about to: until it becomes that, it looks like the script."""
        return name_of(pid).startswith("sleep") or (self.wrapper.name in name_of(pid) and self.wrapper.name in name_of(parent(pid)))

    def victims(self, job):
        """Oshrun's pid comes first, then the supervisor's and the reaper's, then PEs and what they have started."""
        all_ = [pid for pid in family(job.pid) if not self.is_sleep(pid)]                    # a job may lose those
        how = self.rng.randrange(6)
        if how == 0:
            return [job.pid]
        if how == 1:
            return all_[:1] + children(job.pid)               # the launcher's processes, all at once
        if how == 2 and len(all_) > 1:
            return all_[1:2]
        return self.rng.sample(all_, min(len(all_), self.rng.choice((1, 1, 2, 3))))

    def kill_one(self, number):
        words, env = self.command()
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=CLEAN | env) as job:
            time.sleep(self.rng.choice((0.001, 0.01, 0.03, 0.06)) * (1 + self.rng.random()) * (4 if env and self.rng.random() < 0.5 else 1))
            victims = self.victims(job)
            everyone = set(family(job.pid)) | set(victims)   # the launcher's processes may have come meanwhile
            launcher = {job.pid, *children(job.pid)}         # a supervisor that has just started has no name of its own yet
            launcher |= {pid for pid in everyone if name_of(pid).startswith("lateral-")}     # and the kernel may leave a child out
            ours = sorted(launcher & set(victims))           # a PE bears its supervisor's name until it is the script
            if self.wrapper.name in words and len(ours) > 2:
                victims.remove(ours[2])
            what = [f"{pid} {name_of(pid)}" for pid in victims]
            gentle = victims == [job.pid] and self.rng.random() < 0.5
            sign = signal.SIGTERM if gentle else signal.SIGKILL
            for pid in victims:
                try:
                    os.kill(pid, sign)
                except ProcessLookupError:
                    pass
            end = time.monotonic() + soon()
            left = everyone
            while left and time.monotonic() < end:
                everyone |= set(family(os.getpid())) - {os.getpid()}
                job.poll()
                reap(job.pid)
                left = {pid for pid in everyone if alive(pid)}
                time.sleep(0.002)
            status = job.poll()
            fault = [f"left {[f'{pid} {name_of(pid)}' for pid in left]}"] if left else []
            fault += ["status 0"] if status == 0 else []
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if fault:
                said = b"" if left else job.stderr.read()
                self.wrong.append(number)
                print(f"kill {number}: {' '.join(words)} {env}: {sign.name} to {what}: {', '.join(fault)}\n{said.decode(errors='replace')[:500]}",
                      flush=True)
            job.kill()

    def run(self):
        for number in range(self.options.kills):
            self.kill_one(number)
        os.unlink(self.wrapper.name)
        print(f"{self.options.kills} kills with seed {self.options.seed}, {len(self.wrong)} left something or claimed success: {self.wrong}")
        return 1 if self.wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oshrun", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=float, default=0.2, help="share of the jobs with pretended nodes")
    parser.add_argument("--networks", default="tcp", help="transports between these, one or several with commas")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)                  # PR_SET_CHILD_SUBREAPER: orphans are seen here
    sys.exit(Killer(options).run())


if __name__ == "__main__":
    main()
