"""OpenSHMEM on NumPy arrays.

    import numpy as np, lateral.shmem as shmem

    with shmem.job():
        inbox = shmem.zeros(1, "i8")                      # symmetric: every PE has it
        shmem.put(inbox, np.array([shmem.my_pe()]), (shmem.my_pe() + 1) % shmem.n_pes())
        shmem.barrier_all()
        print(inbox[0])

    python -m lateral run -n 4 ring.py

Symmetric arrays are NumPy arrays on the symmetric heap, made by empty, zeros, full and array, which all PEs call alike, as they call
free. Slices of them are symmetric too. dest of a put, source of a get, and what atomics and waits name are symmetric; the other side
is any array, or any object with a buffer. Both sides of collectives are symmetric. A one-dimensional slice with a stride goes by iput or iget; other arrays must be contiguous, since a copy would
not be the caller's memory. An array must stay alive, and a source unchanged, until its _nbi or _nbe operation is complete.

Elements of atomics, waits and signals are an array and an index (0 if left out), counted in memory order. The manual pages of the
functions (man 3 shmem_put and so on) say what is complete when. A mistake that can be seen before the call raises TypeError, ValueError
or IndexError and changes nothing; a call that returns a status raises ShmemError. What the library itself finds ends the job with
a line. Calls let other Python threads run; init asks for SHMEM_THREAD_MULTIPLE, so any thread may call.

The library is called by ctypes: it needs no compiler where the program runs and is part of Python, free-threaded builds included.
"""
from lateral.shmem.core import (EQ, NE, LT, LE, GT, GE, SIGNAL_SET, SIGNAL_ADD, THREAD_SINGLE, THREAD_FUNNELED,
    THREAD_SERIALIZED, THREAD_MULTIPLE, CTX_SERIALIZED, CTX_PRIVATE, CTX_NOSTORE, ShmemError, init, finalize, job,
    initialized, global_exit, my_pe, n_pes, version)
from lateral.shmem.memory import (empty, full, zeros, array, free, allocated, remote, accessible)
from lateral.shmem.moves import (put, get, put_nbi, get_nbi, p, g, put_signal, signal_add, signal_set, signal_fetch,
    signal_wait_until)
from lateral.shmem.elements import (atomic_fetch, atomic_set, atomic_swap, atomic_compare_swap, atomic_inc,
    atomic_fetch_inc, atomic_add, atomic_fetch_add, atomic_and, atomic_fetch_and, atomic_or, atomic_fetch_or,
    atomic_xor, atomic_fetch_xor, wait_until, test, wait_until_all, wait_until_any, wait_until_some, test_all,
    test_any, test_some)
from lateral.shmem.teams import (fence, quiet, barrier_all, sync_all, Lock, Team, WORLD, SHARED, broadcast, fcollect,
    collect, alltoall, reduce, scan, Context)
from lateral.shmem.requests import (Request, put_nbe, get_nbe, Counter)

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("core", "memory", "moves", "elements", "teams", "requests")]
