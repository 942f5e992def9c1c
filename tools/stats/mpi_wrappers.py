#!/usr/bin/env python3
"""Writes the wrappers of lateral-mpi --stats: calls on windows that move data count it, calls that may wait take their time.

    mpi_wrappers.py > wrappers_mpi.c
"""
HEAD = """/* Made by mpi_wrappers.py. */
#include "of_mpi.h"
"""
ORIGIN = "{0}void *origin, {1} origin_count, MPI_Datatype origin_type, "
TARGET = "int rank, MPI_Aint at, {1} target_count, MPI_Datatype target_type, "
RESULT = "void *result, {1} result_count, MPI_Datatype result_type, "
MOVED = "stats_bytes(target_count, target_type)"
ONE = "stats_bytes(1, type)"
# Each gets a form with large counts, and those of MPI's requests one with a request.
COUNTED = {
    "Put": ORIGIN.replace("{0}", "const ") + TARGET + "MPI_Win win",
    "Get": ORIGIN.replace("{0}", "") + TARGET + "MPI_Win win",
    "Accumulate": ORIGIN.replace("{0}", "const ") + TARGET + "MPI_Op op, MPI_Win win",
    "Get_accumulate": ORIGIN.replace("{0}", "const ") + RESULT + TARGET + "MPI_Op op, MPI_Win win",
}
FETCH = "const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op, MPI_Win win"
SWAP = "const void *origin, const void *compare, void *result, MPI_Datatype type, int rank, MPI_Aint at, MPI_Win win"
WITH_REQUEST = ", MPI_Request *request"
WAITS = {
    "Win_fence": "int assert, MPI_Win win", "Win_start": "MPI_Group group, int assert, MPI_Win win", "Win_complete": "MPI_Win win",
    "Win_post": "MPI_Group group, int assert, MPI_Win win", "Win_wait": "MPI_Win win",
    "Win_lock": "int type, int rank, int assert, MPI_Win win", "Win_unlock": "int rank, MPI_Win win",
    "Win_lock_all": "int assert, MPI_Win win", "Win_unlock_all": "MPI_Win win",
    "Win_flush": "int rank, MPI_Win win", "Win_flush_all": "MPI_Win win", "Win_flush_local": "int rank, MPI_Win win",
    "Win_flush_local_all": "MPI_Win win",
    "Win_create": "void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win",
    "Win_allocate": "MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win",
    "Win_allocate_shared": "MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win",
    "Win_create_dynamic": "MPI_Info info, MPI_Comm comm, MPI_Win *win",
    "Barrier": "MPI_Comm comm", "Wait": "MPI_Request *request, MPI_Status *how",
    "Waitall": "int count, MPI_Request *requests, MPI_Status *statuses",
    "Waitany": "int count, MPI_Request *requests, int *index, MPI_Status *how",
    "Waitsome": "int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses",
}


def wrapper(name, written, after, behind=None):
    """`behind`: the next function's name, where the other is a second name of this one."""
    alias = f'extern __typeof__({name}) {behind} __attribute__((alias("{name}")));\n' if behind else ""
    params = ", ".join(part.split()[-1].lstrip("*") for part in written.split(","))
    return f"""int {name}({written})
{{
    static __typeof__(&{name}) next;
    const void *from = __builtin_return_address(0);
    if (!next)
        next = (__typeof__(next))stats_next("{behind or name}");
    if (!stats_enter())
        return next({params});
    uint64_t begin = stats_now();
    int status = next({params});
    {after}
    stats_leave();
    return status;
}}
{alias}"""


def moved(name, written, number, **more):
    after = f"""(void)from;
    if (status == MPI_SUCCESS)
        stats_moved("{name}", stats_pe_of(win, rank), {number}, begin, NULL, 0);"""
    return wrapper(name, written, after, **more)


def mpi_moved(name, written, number):
    return moved(f"MPI_{name}", written, number, behind=f"PMPI_{name}")


def main():
    print(HEAD)
    for name, written in COUNTED.items():
        for end, count in (("", "int"), ("_c", "MPI_Count")):
            with_count = written.replace("{1}", count)
            forms = mpi_moved(name + end, with_count, MOVED) + mpi_moved("R" + name.lower() + end, with_count + WITH_REQUEST, MOVED)
            print(f"#if MPI_VERSION >= 4\n{forms}#endif\n" if end else forms)
        plain = written.replace("{1}", "int")
        if name != "Get":
            print(moved("MPIX_Rr" + name.lower(), plain + WITH_REQUEST, MOVED))
        if name != "Get_accumulate":
            print(moved(f"MPIX_{name}_notify", plain.replace("MPI_Win win", "int id, MPI_Win win"), MOVED))
    print(mpi_moved("Fetch_and_op", FETCH, ONE), mpi_moved("Compare_and_swap", SWAP, ONE), sep="\n")
    print(moved("MPIX_Rrfetch_and_op", FETCH + WITH_REQUEST, ONE), moved("MPIX_Rrcompare_and_swap", SWAP + WITH_REQUEST, ONE), sep="\n")
    for name, written in WAITS.items():
        print(wrapper(f"MPI_{name}", written, f'stats_waited("MPI_{name}", from, begin, NULL);', behind=f"PMPI_{name}"))


if __name__ == "__main__":
    main()
