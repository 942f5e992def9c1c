"""Messages between pretended nodes are changed, cut, repeated and forged on their way, as seeds decide. Signed messages
(LATERAL_WIRE_AUTH=1): a job in which this happens ends with one line that names the fault, and with status 1; one in which it does
not ends well."""
import os
import re
import subprocess
import sys

LINE = re.compile(r"^lateral: PE \d+: (a message|the data of a message|message \d+ of PE \d+|PE \d+ )", re.M)
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "SHMEM_", "SLURM_", "UCX_"))}


def run(oshrun, program, seed, rate):
    env = CLEAN | {"LATERAL_WIRE_AUTH": "1", "LATERAL_TRANSPORTS": "fault:tcp", "LATERAL_NODE_SIZE": "1",
                   "LATERAL_FAULT": f"seed={seed},hold=20,steps=10,mutate={rate}"}
    done = subprocess.run([oshrun, "-n", "3", program], env=env, capture_output=True, text=True, errors="replace", timeout=60, check=False)
    changed = re.findall(r"fault: PE \d+: a message is (\w+)", done.stderr)
    lines = [line for line in done.stderr.splitlines() if line.startswith("lateral:")]
    good = done.returncode == 1 and len(lines) == 1 and LINE.match(lines[0]) if changed else done.returncode == 0 and not lines
    if not good:
        print(f"seed {seed}, {rate} of 10,000: status {done.returncode}, changed {changed}\n{done.stdout[-500:]}\n{done.stderr[-1500:]}")
    return good, changed


def main():
    oshrun, program, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    wrong, kinds = 0, set()
    for seed in range(1, seeds + 1):
        good, changed = run(oshrun, program, seed, (0, 100, 30, 300)[seed % 4])
        wrong += not good
        kinds |= set(changed)
    print(f"{seeds} seeds, {wrong} ended wrongly; messages were {', '.join(sorted(kinds)) or 'not changed'}")
    sys.exit(1 if wrong or not kinds else 0)


if __name__ == "__main__":
    main()
