#!/usr/bin/env python3
"""Programs of another library, or under another library's launcher: a line says that each process is a job of one."""
import os
import pathlib
import subprocess

import harness

SANITIZED = False


def linked(folder, soname, *more):
    """A program that is linked with a library of this name, and with more."""
    library, program = pathlib.Path(folder, soname), pathlib.Path(folder, "program")
    text = "int there(void); int there(void) { return 0; }"
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", library, f"-Wl,-soname,{soname}"], input=text, text=True, check=True)
    text = "int there(void); int main(void) { return there(); }"
    subprocess.run(["cc", "-xc", "-", "-xnone", library, *more, "-o", program, f"-Wl,-rpath,{folder}"], input=text, text=True, check=True)
    return program


def test_linked():
    """oshrun names the library and the launcher to use, and starts the program; directly linked or behind another library."""
    for soname, launcher in (("libsma.so.1", "the oshrun or srun of that library"), ("liboshmem.so.40", "Open MPI's oshrun"),
                             ("libmpi.so.40", "Open MPI's mpirun"), ("libmpich.so.12", "MPICH's mpiexec.hydra"), ("libmpi.so.12", "its mpiexec")):
        with harness.temporary() as folder:
            program = linked(folder, soname)
            result = harness.run("-n", 2, program)
            harness.one_line(result, f"program is linked with {soname} .*not with Lateral: each process is a job of one; start it with {launcher}", 0)
            mpirun = pathlib.Path(folder, "mpirun")            # other hosts: it would start the program there
            mpirun.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n", encoding="ascii")
            mpirun.chmod(0o755)
            far = harness.run("-n", 2, "--host", "a,b", program, env={"PATH": f"{folder}:/usr/bin:/bin"})
            assert f"is linked with {soname} " in far.err, far
            assert not harness.run("-n", 2, "-q", program).err and not harness.run("-n", 1, program).err
            between = pathlib.Path(folder, "libbetween.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-xnone", pathlib.Path(folder, soname), "-Wl,--no-as-needed", "-o", between,
                            f"-Wl,-rpath,{folder}"], input="int more(void); int more(void) { int there(void); return there(); }", text=True, check=True)
            os.remove(program)
            subprocess.run(["cc", "-xc", "-", "-xnone", between, "-o", program, f"-Wl,-rpath,{folder}"],
                           input="int more(void); int main(void) { return more(); }", text=True, check=True)
            harness.one_line(harness.run("-n", 2, program), f"linked with {soname} ", 0)


def test_ours():
    """A program that is linked with Lateral, too, and programs of neither get no line."""
    with harness.temporary() as folder:
        program = linked(folder, "libmpi.so.40", "-Wl,--no-as-needed", f"-L{harness.BUILD}/lib", "-llateral", f"-Wl,-rpath,{harness.BUILD}/lib")
        assert not harness.run("-n", 2, program).err
    for words in (["true"], ["sh", "-c", "true"], [harness.PE]):
        assert not harness.run("-n", 2, *words).err, words


def test_alone():
    """A program whose launcher has started several says so once, in the first process, and not where it is to be alone."""
    lines = {"OMPI_COMM_WORLD": ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), "PMI": ("PMI_SIZE", "PMI_RANK"),
             "srun": ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"), "Slurm": ("SLURM_NTASKS", "SLURM_PROCID")}
    with harness.temporary() as folder:
        source, program = pathlib.Path(folder, "p.c"), f"{folder}/p"
        source.write_text("#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); return 0; }\n")
        subprocess.run([harness.BUILD / "bin" / "oshcc", source, "-o", program], check=True)
        clean = {name: value for name, value in harness.CLEAN.items() if not name.startswith(("OMPI_", "PMI", "PMIX"))}

        def said(**more):
            done = subprocess.run([program], env=clean | more, capture_output=True, text=True, timeout=30, check=False)
            assert done.returncode == 0, done
            return done.stderr.splitlines()

        for size, number in lines.values():
            first = said(**{size: "4", number: "0"})
            assert len(first) == 1 and "started 4 tasks that know nothing of each other" in first[0] and "each is a job of one PE" in first[0], first
            assert not said(**{size: "4", number: "1"}) and not said(**{size: "1", number: "0"}) and not said(**{size: "4"})
            assert not said(**{size: "4", number: "0"}, LATERAL_RTE="alone")
            assert not harness.run("-n", 2, program, env={size: "4", number: "0"}).err


def test_other_mpi():
    """lateral-mpi says that the launcher is another MPI's than the program's, once; and that a program of Lateral is no MPI program."""
    tool = harness.BUILD / "bin" / "lateral-mpi"
    open_mpi, pmi = {"OMPI_COMM_WORLD_SIZE": "2"}, {"PMI_FD": "9", "PMI_SIZE": "2"}
    clean = {name: value for name, value in harness.CLEAN.items() if not name.startswith(("OMPI_", "PMI", "PMIX"))}

    def said(mpi, **more):
        done = subprocess.run([tool, f"--mpi={mpi}", "true"], env=clean | more, capture_output=True, text=True, timeout=30, check=False)
        return done.stderr if done.returncode == 0 else None

    if said("mpich") is None or said("openmpi") is None:
        raise harness.Skip("there are no layers for both MPIs")
    assert "true is linked with mpich, but Open MPI's mpirun has started it" in said("mpich", OMPI_COMM_WORLD_RANK="0", **open_mpi)
    assert "mpiexec.hydra" in said("mpich", OMPI_COMM_WORLD_RANK="0", **open_mpi) and not said("mpich", OMPI_COMM_WORLD_RANK="1", **open_mpi)
    assert "use Open MPI's mpirun" in said("openmpi", PMI_RANK="0", **pmi) and not said("openmpi", PMI_RANK="1", **pmi)
    assert not said("openmpi", OMPI_COMM_WORLD_RANK="0", PMIX_NAMESPACE="x", **open_mpi) and not said("mpich", PMI_RANK="0", **pmi)


if __name__ == "__main__":
    harness.main(globals())
