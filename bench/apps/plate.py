"""Heat in a plate with NumPy: each process has a band of rows and puts its edge rows into its neighbours' halos.

    plate.py shmem|mpi      by counting puts of lateral.shmem, or by a window of mpi4py and fences

There are two plates in turns, so a neighbour that is a step ahead overwrites nothing. Process 0 prints the time of a step when the
total heat is right.
"""
import json
import sys
import time

import numpy as np

ROWS, COLUMNS, STEPS = 128, 128, 2000


class Shmem:
    def __init__(self):
        import lateral.shmem as shmem
        shmem.init()
        self.shmem, self.me, self.all = shmem, shmem.my_pe(), shmem.n_pes()
        self.plates = shmem.zeros((2, ROWS // self.all + 2, COLUMNS))
        self.above, self.below = shmem.Counter(), shmem.Counter()
        self.start, self.end = shmem.barrier_all, shmem.finalize

    def exchange(self, turn):
        plate = self.plates[turn]
        if self.me > 0:
            self.below.put(plate[-1], plate[1], self.me - 1)
        if self.me < self.all - 1:
            self.above.put(plate[0], plate[-2], self.me + 1)
        if self.me > 0:
            self.above.consume(1)
        if self.me < self.all - 1:
            self.below.consume(1)

    def total(self, value):
        mine, total = self.shmem.zeros(1), self.shmem.zeros(1)
        mine[0] = value
        self.shmem.reduce(total, mine, "sum")
        return total[0]


class Mpi:
    def __init__(self):
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        self.me, self.all = world.rank, world.size
        shape = (2, ROWS // self.all + 2, COLUMNS)
        self.window = MPI.Win.Allocate(int(np.prod(shape)) * 8, 8, comm=world)
        self.plates = np.frombuffer(self.window.tomemory(), dtype="d").reshape(shape)
        self.plates[:] = 0
        self.start, self.end, self.total = world.Barrier, self.window.Free, world.allreduce

    def exchange(self, turn):
        plate = self.plates[turn]
        rows, first = len(plate), turn * plate.size
        self.window.Fence()
        if self.me > 0:
            self.window.Put(plate[1], self.me - 1, (first + (rows - 1) * COLUMNS, COLUMNS))
        if self.me < self.all - 1:
            self.window.Put(plate[-2], self.me + 1, (first, COLUMNS))
        self.window.Fence()


def step(job, now, new):
    """Heat flows between neighbours and nowhere else."""
    if job.me == 0:
        now[0] = now[1]
    if job.me == job.all - 1:
        now[-1] = now[-2]
    middle = now[1:-1]
    new[1:-1] = middle + 0.2 * (now[:-2] + now[2:] - 2 * middle)
    across = 0.2 * (middle[:, 1:] - middle[:, :-1])
    new[1:-1, :-1] += across
    new[1:-1, 1:] -= across


def main():
    job = {"shmem": Shmem, "mpi": Mpi}[sys.argv[1]]()
    job.plates[0, 1, COLUMNS // 2] = 1000.0 * (job.me + 1)
    job.start()
    begin = time.perf_counter()
    for count in range(STEPS):
        job.exchange(count % 2)
        step(job, job.plates[count % 2], job.plates[1 - count % 2])
    seconds = time.perf_counter() - begin
    total, right = job.total(job.plates[STEPS % 2, 1:-1].sum()), 500.0 * job.all * (job.all + 1)
    assert abs(total - right) < 1e-6 * right, f"{total} is not {right}"
    if job.me == 0:
        print(json.dumps({"results": {"step": [seconds / STEPS * 1e6, "us"]}}))
    job.end()


main()
