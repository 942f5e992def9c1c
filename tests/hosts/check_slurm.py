"""A small Slurm cluster on hosts: srun starts our PEs, oshrun in an allocation hands over to it."""
import os
import pathlib
import re
import shutil
import tempfile

import harness
from harness import LAST, asking, needs_pmix, needs_slurm, on_slurm, program, rows, whole_job


def exchanges(plugin):
    needs_slurm(plugin)
    result = on_slurm(2, f'srun -N2 --ntasks-per-node=2 --mpi={plugin} "$0"')
    for pe, record in whole_job(result, 4).items():
        wanted = {"nodes": 2, "node": pe // 2, "size": 2, "index": pe % 2, "host": f"h{pe // 2 + 1}"}
        assert wanted.items() <= record.items(), result


rows(globals(), "exchange", exchanges, pmix="pmix", pmi2="pmi2")


def ends(plugin):
    """srun adds to the exit status what it kills, so that is not ours alone."""
    needs_slurm(plugin)
    script = "for how in 'leave 1' 'abort 2' 'kill 3'; do " \
             f'timeout 40 srun -N2 --ntasks-per-node=2 --kill-on-bad-exit=1 --mpi={plugin} "$0" $how; echo "status $?"; done'
    result = on_slurm(2, script)
    ends = [int(line.split()[1]) for line in result.out.splitlines() if line.startswith("status ")]
    assert len(ends) == 3 and all(end not in (0, 124) for end in ends), result
    assert "PE 1: left with exit status 0 before shmem_finalize" in result.err, result


rows(globals(), "ends", ends, pmix="pmix", pmi2="pmi2")


def test_lonely():
    """srun without PMI: each task says that it is a job of one PE, once per step."""
    needs_slurm()
    result = on_slurm(2, 'srun -N2 --ntasks-per-node=2 --mpi=none "$0"')
    assert result.status == 0 and result.out.count("npes 1 ") == 4, result
    assert result.err.count("srun started 4 tasks that know nothing of each other") == 1, result


def test_handover():
    """oshrun in an allocation of two nodes becomes srun, with its own options in srun's words."""
    needs_slurm()
    found = whole_job(on_slurm(2, 'salloc -N2 -n4 "$1" "$0"'), 4)
    assert [found[pe]["host"] for pe in range(4)] in (["h1", "h1", "h2", "h2"], ["h1", "h1", "h1", "h2"]), found
    show = """sh -c 'echo "$(hostname) $A $(pwd)"'"""
    result = on_slurm(2, f'salloc -N2 -n4 "$1" -q --host h2,h1 -n 1 -x "A=it\'s" --wdir /usr {show} : -n 1 --wdir / {show}')
    assert result.status == 0 and sorted(result.out.splitlines()) == ["h1 it's /usr", "h2  /"], result
    tagged = on_slurm(2, 'salloc -N2 -n2 "$1" --tag-output hostname')
    assert sorted(tagged.out.splitlines()) == ["0: h1", "1: h2"] and "handing over to" in tagged.err, tagged
    late = on_slurm(2, 'salloc -N2 -n2 "$1" --timeout 1 sleep 50')
    assert late.status == 124, late


def test_batch():
    """The batch scripts of the guide, with fewer PEs, and its module file: a job on 4 nodes, two beside each other, one of two programs."""
    needs_slurm()
    needs_pmix()
    guide = (harness.ROOT / "docs/guide/cluster.md").read_text(encoding="utf-8")
    init = pathlib.Path("/etc/profile.d/modules.sh")
    with tempfile.TemporaryDirectory(dir=harness.BUILD) as folder:
        os.mkdir(f"{folder}/modules")
        module = re.search(r"```tcl\n(.*?)```", guide, re.S)[1].replace("/opt/lateral/0.1.0", str(harness.BUILD))
        pathlib.Path(folder, "modules/lateral").write_text(module, encoding="utf-8")
        for name in ("stencil", "solve", "master", "worker"):
            shutil.copy(harness.exchange(), f"{folder}/{name}")
        for number, text in enumerate(re.findall(r"```sh\n(#!.*?)```", guide, re.S)):
            text = re.sub(r"-per-node=\d+", "-per-node=2", text.replace("-n 16", "-n 4").replace(" --mem=64g", ""))
            text = re.sub(r"\./(\w+)( \w+)?", r"./\1 place", text) + ("" if "exec" in text else "echo over\n")
            text = text.replace("module load", f"module use {folder}/modules; module load" if init.exists() else ":")
            pathlib.Path(folder, f"job{number}").write_text(text.replace("exec", "oshrun --version && exec" * init.exists() or "exec"), encoding="utf-8")
        result = on_slurm(5, f"cd {folder}; sbatch --wait -o 0 job0 && sbatch --wait -o 1 job1 && sbatch -o 2 job2 && "
                             "until grep -q over 2; do sleep 0.1; done; tail -n 40 0 first.out second.out 2")
    found = [sorted(re.findall(r"^pe (\d+) npes (\d+) node \d+ nodes (\d+)", part, re.M)) for part in result.out.split("==> ")[1:]]
    wanted = [(8, 4), (4, 2), (4, 2), (9, 5)]
    assert found == [[(str(pe), str(pes), str(nodes)) for pe in range(pes)] for pes, nodes in wanted], result
    assert not init.exists() or "oshrun" in result.out.split("==> ")[1], result


def hangs(plugin):
    """The whole job's picture at LATERAL_TIMEOUT, in a deadlock and at a signal to srun, and under oshrun's hand-over."""
    needs_slurm(plugin)
    step, hang = f"srun -N2 --ntasks-per-node=2 --kill-on-bad-exit=1 --mpi={plugin}", program("hosts_hang")
    result = on_slurm(2, f'LATERAL_TIMEOUT=4 {step} {hang} one; echo "status $?"; LATERAL_DEADLOCK=2 {step} {hang} one; echo "status $?"; '
                         f'export LATERAL_TIMEOUT=0; {asking(f"{step} {hang} one", 4, "^PEs 0,2,3")}{LAST}kill -TERM $p; wait $p; unset LATERAL_TIMEOUT; '
                         f'salloc -N2 -n4 "$1" --timeout 6 {hang} one; echo "status $?"')
    for title in (r"lateral: time limit of 4 s reached \(LATERAL_TIMEOUT\)", r"lateral: deadlock for [0-9.]+ s \(LATERAL_DEADLOCK\)",
                  r"lateral: where the 4 PEs are:", r"oshrun: time limit of 6 s reached \(--timeout\)"):
        assert len(re.findall(title, result.err)) == 1, f"{title}\n{result}"
    assert len(re.findall(r"^  PE 1 +shmem_long_wait_until\(flag == 7, is 0\)", result.err, re.M)) == 4, result
    assert result.err.count("PEs 0,2,3 wait for PE 1; PE 1 waits for a store that no PE is making") == 4, result
    assert [line for line in result.out.splitlines() if line.startswith("status ")] == ["status 124", "status 1", "status 124"], result


rows(globals(), "hangs", hangs, pmix="pmix", pmi2="pmi2")


def account(plugin):
    """LATERAL_STATS and LATERAL_TRACE in srun's line: one table and one timeline of both hosts."""
    needs_slurm(plugin)
    trace = harness.BUILD / f"account.{plugin}.json"
    try:
        result = on_slurm(2, f"srun -N2 --ntasks-per-node=2 --mpi={plugin} {program('test_job_counted')}",
                          env={"LATERAL_STATS": "1", "LATERAL_TRACE": str(trace)})
        harness.one_account(result, trace, 4)
    finally:
        trace.unlink(missing_ok=True)


rows(globals(), "account", account, pmix="pmix", pmi2="pmi2")


def test_one_node():
    """In an allocation of one node oshrun starts the PEs itself."""
    needs_slurm()
    result = on_slurm(2, 'salloc -N1 -n2 "$1" -n 2 "$0" bare')
    assert whole_job(result, 2)[0]["nodes"] == 1 and "handing over" not in result.err, result


def hybrid(mpi, plugin, tasks):
    """MPI and OpenSHMEM in one program, either first, without the layer and with windows; nothing is said but who carries them."""
    needs_slurm(plugin)
    layer, bare, both = harness.BUILD / f"lib/liblateral-mpi-{mpi}.so", program(f"test_mpi_bare_{mpi}"), program(f"test_mpi_hybrid_{mpi}")
    env = {"UCX_TLS": "tcp,self", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1", "LATERAL_MPI": "verbose"}
    start = f"srun {tasks} --mpi={plugin}"
    script = f"for first in mpi shmem; do timeout 20 {start} env LD_PRELOAD={layer} {both} $first || exit; done"
    if "-N1" in tasks:                                  # it asks for memory that all PEs map
        script += f"; for first in mpi shmem; do timeout 20 {start} {bare} bare-$first || exit; done"
    result = on_slurm(2, script, env=env)
    assert result.status == 0 and result.out.count("PASS") == (4 if "-N1" in tasks else 2), result
    lines = [line for line in result.err.splitlines() if line.strip() and not line.startswith("srun: job ")]   # it may have to queue
    assert len(lines) == 4 and all("Lateral" in line for line in lines), result


def test_hybrid_pmix():
    """Open MPI under srun --mpi=pmix."""
    needs_pmix()
    hybrid("openmpi", "pmix", "-N1 -n2")
    hybrid("openmpi", "pmix", "-N2 -n4")


def test_hybrid_pmi2():
    """MPICH under srun --mpi=pmi2, whose server takes one greeting for each process. On one host: between two MPICH 4.0 hangs in
    MPI_Finalize by itself (check_mpi.py)."""
    hybrid("mpich", "pmi2", "-N1 -n2")


def without(mpi, plugin):
    """A task without the layer: all windows are the MPI's, and one line names it, whoever of MPI and OpenSHMEM starts first."""
    needs_slurm(plugin)
    layer, plain, bare = harness.BUILD / f"lib/liblateral-mpi-{mpi}.so", program(f"test_mpi_starts_{mpi}"), program(f"test_mpi_bare_{mpi}")
    choose = f'[ $SLURM_PROCID = $0 ] || export LD_PRELOAD={layer}; exec "$@"'
    script = f"for task in 0 1; do for all in '{plain}' '{bare} bare-shmem' '{bare} bare-mpi'; do " \
             f"timeout 20 srun -N1 -n2 --mpi={plugin} sh -c '{choose}' $task $all || exit; done; done"
    result = on_slurm(2, script)
    lines = [line.split("cannot have windows")[0] for line in result.err.splitlines() if line.strip()]
    assert result.status == 0 and result.out.count("PASS") == 6, result
    assert lines == ["lateral-mpi: rank 0 "] * 3 + ["lateral-mpi: rank 1 "] * 3, result


rows(globals(), "without", without, pmix=("openmpi", "pmix"), pmi2=("mpich", "pmi2"))


if __name__ == "__main__":
    harness.main(globals())
