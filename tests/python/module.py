#!/usr/bin/env python3
"""Tests of lateral.shmem: each PE runs the group named on the command line; an assertion that fails ends the job.

    module.py --list           the groups, one a line
    module.py GROUP            inside of a job
"""
import array as carray
import gc
import sys
import threading

GROUPS = {}


def group(function):
    GROUPS[function.__name__] = function
    return function


def refused(kind, words, function, *arguments, **named):
    """The call raises this kind of exception, whose text has the words, and the job goes on."""
    try:
        function(*arguments, **named)
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error}"
    else:
        raise AssertionError(f"nothing was raised for {words!r}")


@group
def memory(me, n):
    for dtype in ("i1", "u2", "i4", "f4", "f8", "c8", "c16", "?", [("x", "f8"), ("tag", "i4")]):
        a = shmem.zeros((3, 4), dtype)
        assert a.shape == (3, 4) and a.dtype == np.dtype(dtype) and a.flags.c_contiguous and not a.tobytes().strip(b"\0")
        assert shmem.accessible(a, (me + 1) % n)
        shmem.free(a)
    a = shmem.array([[1, 2], [3, 4]])
    assert a.sum() == 10 and a.dtype == np.int64
    b = shmem.full(5, 2.5)
    assert b.tolist() == [2.5] * 5
    e = shmem.empty(0)
    assert e.size == 0
    assert not shmem.accessible(np.zeros(3), 0)
    near = shmem.remote(a, (me + 1) % n)
    assert near is None or near.tolist() == [[1, 2], [3, 4]]
    refused(ValueError, "not an array that", shmem.free, a[1:])
    shmem.free(a), shmem.free(b), shmem.free(e)
    refused(ValueError, "freed before", shmem.free, b)
    refused(MemoryError, "symmetric heap", shmem.empty, 1 << 46)
    refused(TypeError, "Python objects", shmem.empty, 3, object)
    refused(ValueError, "negative", shmem.empty, (3, -1))
    with shmem.allocated(4, "i4", 7) as c:
        assert c.tolist() == [7] * 4


@group
def moves(me, n):
    to, before = (me + 1) % n, (me - 1) % n
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16", "?", "S3"):
        a = shmem.zeros(8, dtype)
        mine = (np.arange(8) + me).astype(dtype)
        shmem.put(a, mine, to)
        shmem.barrier_all()
        assert (a == (np.arange(8) + before).astype(dtype)).all(), dtype
        got = np.zeros(4, dtype)
        shmem.get(got, a[2:6], to)
        assert (got == mine[2:6]).all(), dtype
        shmem.barrier_all()
        shmem.put_nbi(a[1:3], mine[:2], to)
        shmem.quiet()
        shmem.barrier_all()
        assert (a[1:3] == (np.arange(2) + before).astype(dtype)).all(), dtype
        got[:] = 0
        shmem.get_nbi(got, a[1:5], to)
        shmem.quiet()
        assert (got[:2] == mine[:2]).all(), dtype
        shmem.free(a)
    grid = shmem.zeros((4, 5))
    shmem.put(grid[1], np.full(5, me + 1.0), to)
    shmem.p(grid, 9.5 + me, to, index=19)
    shmem.barrier_all()
    assert (grid[1] == before + 1).all() and grid[3, 4] == 9.5 + before and shmem.g(grid, to, index=19) == 9.5 + me
    read_only = np.full(3, 4.0)
    read_only.flags.writeable = False
    shmem.put(grid[0, :3], read_only, to)
    shmem.put(grid[2, 3:4], np.array(7.0), to)
    shmem.barrier_all()
    assert grid[0].tolist() == [4, 4, 4, 0, 0] and grid[2, 3] == 7
    shmem.free(grid)


@group
def strided(me, n):
    to, before = (me + 1) % n, (me - 1) % n
    for dtype in ("i1", "i2", "f4", "f8", "c16"):
        a = shmem.zeros(12, dtype)
        shmem.put(a[::3], (np.arange(8) + me + 1).astype(dtype)[::2], to)
        shmem.barrier_all()
        assert (a[::3] == (np.arange(8) + before + 1).astype(dtype)[::2]).all() and not a[1::3].any()
        got = np.zeros(8, dtype)
        shmem.get(got[::2], a[::3], to)
        assert (got[::2] == (np.arange(8) + me + 1).astype(dtype)[::2]).all() and not got[1::2].any()
        shmem.barrier_all()
        shmem.free(a)
    with shmem.allocated((4, 4)) as square:
        shmem.put(square[:, 2], np.arange(4.0) + me, to)          # a column
        shmem.barrier_all()
        assert square[:, 2].tolist() == [before + i for i in range(4)] and square[:, 1].sum() == 0
        refused(ValueError, "not contiguous", shmem.put, square[:2, :2], np.zeros((2, 2)), to)
        refused(ValueError, "strides must be positive", shmem.put, square[0, ::-1], np.zeros(4), to)


@group
def mistakes(me, n):
    a = shmem.zeros(4, "i4")
    refused(IndexError, f"no PE {n}", shmem.put, a, np.zeros(4, "i4"), n)
    refused(IndexError, "no PE -1", shmem.get, np.zeros(4, "i4"), a, -1)
    refused(TypeError, "dest has elements of int32, source of float64", shmem.put, a, np.zeros(4), 0)
    refused(ValueError, "do not fit", shmem.put, a, np.zeros(5, "i4"), 0)
    refused(ValueError, "do not fit", shmem.get, np.zeros(5, "i4"), a, 0)
    refused(ValueError, "dest is not symmetric", shmem.put, np.zeros(4, "i4"), a, 0)
    refused(ValueError, "source is not symmetric", shmem.get, a, np.zeros(4, "i4"), 0)
    refused(TypeError, "scalar or a list", shmem.put, a, [1, 2, 3, 4], 0)
    refused(IndexError, "no element 4", shmem.atomic_add, a, 1, 0, index=4)
    refused(TypeError, "not for elements of int16", shmem.atomic_add, shmem.zeros(1, "i2"), 1, 0)
    refused(TypeError, "not for elements of float64", shmem.atomic_inc, shmem.zeros(1), 0)
    refused(TypeError, "wants the array, 1 value", shmem.atomic_add, a, 0)
    refused(TypeError, "uint64", shmem.signal_set, a, 1, 0)
    refused(ValueError, "no operation 'mean'", shmem.reduce, a, a, "mean")
    refused(TypeError, "not for elements", shmem.reduce, shmem.zeros(1), shmem.zeros(1), "xor")
    if n > 1:
        refused(ValueError, "no multiple", shmem.alltoall, shmem.zeros(n + 1), shmem.zeros(n + 1))
    refused(ValueError, "status has 1", shmem.wait_until_all, a, shmem.EQ, 0, [0])
    assert not a.any()
    shmem.barrier_all()


@group
def atomics(me, n):
    for dtype in ("i4", "i8", "u4", "u8"):
        a = shmem.zeros(3, dtype)
        shmem.atomic_add(a, 2, 0, index=1)
        shmem.atomic_inc(a, 0, index=1)
        before = shmem.atomic_fetch_add(a, np.int32(3), 0, index=1)
        assert 0 <= before <= 6 * n
        shmem.atomic_fetch_inc(a, 0, index=1)
        shmem.barrier_all()
        assert shmem.atomic_fetch(a, 0, index=1) == 7 * n
        shmem.barrier_all()
        assert shmem.atomic_swap(a, 5, me, index=2) == 0
        assert shmem.atomic_compare_swap(a, 4, 6, me, index=2) == 5 and shmem.atomic_compare_swap(a, 5, 6, me, index=2) == 5
        shmem.atomic_set(a, 12, me, index=2)
        shmem.atomic_or(a, 3, me, index=2)
        shmem.atomic_and(a, 6, me, index=2)
        assert shmem.atomic_fetch_xor(a, 15, me, index=2) == 6 and a[2] == 9
        assert shmem.atomic_fetch_or(a, 2, me, index=2) == 9 and shmem.atomic_fetch_and(a, 8, me, index=2) == 11 and a[2] == 8
        shmem.barrier_all()
        shmem.free(a)
    f = shmem.zeros(1)
    shmem.atomic_set(f, 2.5, me)
    assert shmem.atomic_swap(f, np.float64(3.5), me) == 2.5 and shmem.atomic_fetch(f, me) == 3.5
    big = shmem.zeros(1, "u8")
    shmem.atomic_set(big, 2**63 + 1, me)
    assert shmem.atomic_fetch(big, me) == 2**63 + 1
    with shmem.WORLD.context() as ctx:
        shmem.atomic_add(big, 1, me, ctx=ctx)
        assert shmem.atomic_fetch(big, me, ctx=ctx) == 2**63 + 2


@group
def waits(me, n):
    a = shmem.zeros(4, "i8")
    signal = shmem.zeros(2, "u8")
    data = shmem.zeros(3)
    to = (me + 1) % n
    shmem.p(a, 5, to, index=2)
    assert shmem.wait_until_any(a, shmem.GT, 0) == 2
    shmem.wait_until(a, shmem.EQ, 5, index=2)
    assert shmem.test(a, shmem.GE, 5, index=2) and not shmem.test(a, shmem.NE, 0)
    assert shmem.wait_until_some(a, shmem.NE, 0).tolist() == [2]
    shmem.wait_until_all(a, shmem.EQ, 5, status=[1, 1, 0, 1])
    shmem.wait_until_all(a, shmem.EQ, np.array([0, 0, 5, 0]))
    assert shmem.test_all(a, shmem.LE, 5) and not shmem.test_all(a, shmem.LT, 5)
    assert shmem.test_any(a, shmem.EQ, 77) is None and shmem.test_some(a, shmem.EQ, 0).tolist() == [0, 1, 3]
    assert shmem.wait_until_any(a, shmem.EQ, 1, status=[1, 1, 1, 1]) is None
    shmem.put_signal(data, np.array([1.0, 2.0, me]), signal, 4, to, op=shmem.SIGNAL_ADD, index=1)
    assert shmem.signal_wait_until(signal, shmem.EQ, 4, index=1) == 4
    assert data.tolist() == [1, 2, (me - 1) % n]
    shmem.barrier_all()
    shmem.signal_add(signal, 1, to)
    shmem.signal_wait_until(signal, shmem.GE, 1)
    shmem.signal_set(signal, 9, me, index=1)
    assert shmem.signal_fetch(signal, 1) == 9
    shmem.put_signal(data, np.zeros(3), signal, 2, to, nbi=True)
    shmem.signal_wait_until(signal, shmem.EQ, 2)
    shmem.barrier_all()


@group
def collectives(me, n):
    a, b, mine = shmem.zeros(3 * n), shmem.zeros(3), shmem.full(3, float(me))
    shmem.fcollect(a, mine)
    assert a.tolist() == [float(i // 3) for i in range(3 * n)]
    shmem.broadcast(b, mine, n - 1)
    assert b[0] == n - 1 or me == n - 1
    refused(ValueError, "source is not symmetric", shmem.broadcast, b, np.zeros(3))
    c = shmem.zeros(n * (n + 1) // 2, "i4")
    shmem.collect(c, shmem.full(n, me, "i4")[:me + 1])
    assert c.tolist() == [i for i in range(n) for _ in range(i + 1)]
    t = shmem.zeros(n, "i8")
    shmem.alltoall(t, shmem.array(np.arange(n) + 10 * me))
    assert t.tolist() == [10 * i + me for i in range(n)]
    for dtype, op, one, expected in (("i4", "sum", me + 1, n * (n + 1) // 2), ("f8", "max", me, n - 1), ("i2", "min", -me, 1 - n),
                                     ("u1", "or", 1 << (me % 8), (1 << min(n, 8)) - 1), ("f4", "prod", 2, 2.0**n),
                                     ("i8", "xor", 1, n % 2), ("u4", "and", 6, 6), ("c16", "sum", 1 + 2j, n * (1 + 2j))):
        result = shmem.zeros(2, dtype)
        shmem.reduce(result, shmem.full(2, one, dtype), op)
        assert result.tolist() == [expected] * 2, (dtype, op)
        shmem.free(result)
    s = shmem.zeros(1, "i8")
    one = shmem.array([me + 1])
    shmem.scan(s, one)
    assert s[0] == (me + 1) * (me + 2) // 2
    shmem.barrier_all()
    shmem.scan(s, one, inclusive=False)
    assert s[0] == me * (me + 1) // 2
    row, column = shmem.WORLD.split_2d(2)
    assert row.n_pes() == min(2, n - me // 2 * 2) and column.my_pe() == me // 2
    row.destroy(), column.destroy()
    assert shmem.WORLD == shmem.Team(1) and shmem.WORLD != shmem.SHARED


@group
def requests(me, n):
    a = shmem.zeros(64, "i8")
    to, before = (me + 1) % n, (me - 1) % n
    with shmem.put_nbe(a, np.arange(64) + me, to) as request:
        gc.collect()                                          # the request keeps the source alive
        request.wait()
        assert request.test()
    shmem.barrier_all()
    assert (a == np.arange(64) + before).all()
    got = np.zeros(64, "i8")
    first, second = shmem.get_nbe(got[:32], a[:32], to), shmem.get_nbe(got[32:], a[32:], to)
    both = shmem.Request()
    both.merge(first, second)
    both.wait()
    assert (got == np.arange(64) + me).all() and first.test() and second.test()
    both.free()
    shmem.barrier_all()
    shmem.put_nbe(a, np.arange(64) + 7 * me, to)                # nobody holds the request: it waits when it goes
    shmem.put(a[::2], memoryview(np.arange(64) + me)[::2], to)  # a buffer with gaps
    shmem.barrier_all()
    assert a[::2].tolist() == [i + before for i in range(0, 64, 2)] and a[1::2].tolist() == [i + 7 * before for i in range(1, 64, 2)]
    shmem.barrier_all()
    with shmem.Counter() as counter:
        for i in range(8):
            counter.put(a[i:i + 1], np.array([i + 100]), to)
        counter.consume(8)
        assert counter.value == 0 and a[:8].tolist() == list(range(100, 108))
        shmem.barrier_all()
        counter.add(to, 3)
        assert counter.wait(3) == 3 and counter.test(3) and not counter.test(4)
        counter.set(0)
        shmem.barrier_all()
        counter.get(got, a, to)
        assert counter.wait(1) == 1
        shmem.barrier_all()


@group
def buffers(me, n):
    """The other side of a put or get is any object with a buffer; what would be written and must not is refused."""
    to, before = (me + 1) % n, (me - 1) % n
    with shmem.allocated(6, "u1") as a, shmem.allocated(3) as f:
        shmem.put(a, bytes([me + 1, 2, 3]), to)
        shmem.put(a[3:], bytearray([4, 5]), to)
        shmem.put_nbi(a[5:], memoryview(bytes([6 + me])), to)
        shmem.put(f, carray.array("d", [0.5, me, 2.5]), to)
        shmem.barrier_all()
        assert a.tolist() == [before + 1, 2, 3, 4, 5, 6 + before] and f.tolist() == [0.5, before, 2.5]
        got, words = bytearray(4), carray.array("d", [0, 0])
        shmem.get(got, a[1:], to)
        shmem.get_nbi(words, f[1:], to)
        shmem.quiet()
        assert got == bytes([2, 3, 4, 5]) and words.tolist() == [me, 2.5]
        read_only = np.zeros(3)
        read_only.flags.writeable = False
        for dest, source in ((bytes(6), a), (read_only, f), (read_only[::2], f[::2])):
            refused(ValueError, "dest is read-only", shmem.get, dest, source, to)
        refused(TypeError, "elements of uint8, source of float64", shmem.put, a, words, to)
        refused(TypeError, "scalar or a list", shmem.get, [0.0], f, to)
        refused(ValueError, "do not fit", shmem.put, a, bytes(7), to)
        assert read_only.tolist() == [0, 0, 0]
        shmem.put(f[:1], np.float64(8.5), me)
        assert f[0] == 8.5
        shmem.barrier_all()


@group
def kinds(me, n):
    """What waits, tests, p and g do for each type of element."""
    to, before = (me + 1) % n, (me - 1) % n
    for dtype in ("i2", "u2", "i4", "u4", "i8", "u8"):
        with shmem.allocated(2, dtype) as a:
            shmem.p(a, 7, to, index=1)
            shmem.wait_until(a, shmem.EQ, 7, index=1)
            holds = [shmem.test(a, compare, 7, index=1) for compare in (shmem.EQ, shmem.NE, shmem.LT, shmem.LE, shmem.GT, shmem.GE)]
            assert holds == [True, False, False, True, False, True] and shmem.test(a, shmem.LT, 1), dtype
            a[0] = np.iinfo(dtype).max
            shmem.wait_until(a, shmem.GE, int(a[0]))
            shmem.barrier_all()
    record = np.dtype([("x", "f8"), ("tag", "i4")])
    for dtype, value in (("c16", 1 + 2j), ("f16", np.longdouble(1) / 3), ("?", True), ("S5", b"heap"), (record, (0.25, 3)), ("f2", 1.5)):
        a = shmem.zeros(3, dtype)
        shmem.p(a, value, to, index=2)
        shmem.barrier_all()
        assert a[2] == np.array(value, dtype)[()] == shmem.g(a, to, index=2) and (a[:2] == np.zeros(2, dtype)).all(), dtype
        shmem.free(a)
    with shmem.allocated(2, "f4") as a:
        shmem.atomic_set(a, 0.1, to, index=1)
        shmem.barrier_all()
        assert a[1] == np.float32(0.1) and shmem.atomic_swap(a, 2, me, index=1) == float(np.float32(0.1)) and a[1] == 2
        refused(TypeError, "not for elements of float32", shmem.wait_until, a, shmem.EQ, 0)
        refused(TypeError, "not for elements of float32", shmem.atomic_fetch_add, a, 1, 0)
    refused(TypeError, "no OpenSHMEM type for elements of >i4", shmem.test, np.zeros(1, ">i4"), shmem.EQ, 0)


@group
def slices(me, n):
    """A slice begins where its first element lies, also for atomics, waits, signals and collectives."""
    to = (me + 1) % n
    a, cube, signal = shmem.zeros(12, "i8"), shmem.zeros((3, 4, 5)), shmem.zeros(6, "u8")
    shmem.put(cube[1, 2], np.arange(5.0), to)
    shmem.put(cube[2, :, :], np.full((4, 5), 3.0), to)
    shmem.put_signal(cube[0, 1, 2:4], np.array([8.0, 9.0]), signal[4:], 5, to, index=1)
    assert shmem.signal_wait_until(signal, shmem.NE, 0, index=5) == 5 and cube[0, 1].tolist() == [0, 0, 8, 9, 0]
    shmem.barrier_all()
    assert cube[1].ravel().tolist() == [0] * 10 + [0, 1, 2, 3, 4] + [0] * 5 and (cube[2] == 3).all() and not signal[:5].any()
    assert shmem.atomic_fetch_add(a[3:6], 7, np.int64(me), index=np.uint32(1)) == 0 and shmem.atomic_fetch(a, me, index=4) == 7
    assert shmem.g(a[4:], me) == 7 and shmem.test(a[2:], shmem.EQ, 7, index=2)
    assert shmem.wait_until_some(a[2:8], shmem.GT, 0).tolist() == [2] and shmem.test_any(a[2:8], shmem.EQ, 7) == 2
    assert shmem.test_some(a[2:8], shmem.EQ, 0, status=[0, 1, 0, 1, 0, 1]).tolist() == [0, 4]
    assert shmem.wait_until_any(a[4:6], shmem.NE, np.array([7, -1])) == 1
    assert shmem.test_any(a[:0], shmem.EQ, 0) is None and shmem.wait_until_some(a[:0], shmem.EQ, 0).size == 0
    shmem.put(a[:0], np.zeros(0, "i8"), to)
    a[8:10] = me, 1
    shmem.reduce(a[10:], a[8:10], "sum")
    assert a[10:].tolist() == [n * (n - 1) // 2, n]
    for index in (-1, 3):
        refused(IndexError, f"no element {index} in an array of 3", shmem.atomic_inc, a[3:6], 0, index=index)
    refused(ValueError, "not contiguous", shmem.atomic_inc, a[::2], 0)
    refused(ValueError, "not contiguous", shmem.put, cube[:, :, 0], np.zeros((3, 4)), to)
    refused(ValueError, "not contiguous", shmem.broadcast, a[::2], a[:6])
    refused(ValueError, "whole elements", shmem.get, np.zeros(2), np.zeros(2, [("x", "f8"), ("y", "i4")])["x"], to)
    shmem.barrier_all()


@group
def contexts(me, n):
    """What a context is given works like the same call without one; its quiet completes it."""
    to, before = (me + 1) % n, (me - 1) % n
    for options in (0, shmem.CTX_SERIALIZED, shmem.CTX_PRIVATE):
        with shmem.allocated(8, "i8") as a, shmem.allocated(2, "u8") as signal, shmem.Context(options=options) as ctx:
            shmem.p(a, me + 1, to, ctx=ctx)
            shmem.put(a[1:3], np.array([me, 5]), to, ctx=ctx)
            shmem.put(a[3::2], np.array([me, 0, 6, 0, 7, 0])[::2], to, ctx=ctx)
            shmem.put_nbi(a[6:7], np.array([9]), to, ctx=ctx)
            shmem.atomic_inc(a, to, index=4, ctx=ctx)
            ctx.quiet()
            shmem.put_signal(a[2:3], np.array([8]), signal, 3, to, index=1, ctx=ctx, nbi=options == 0)
            shmem.signal_wait_until(signal, shmem.EQ, 3, index=1)
            shmem.barrier_all()
            assert a.tolist() == [before + 1, before, 8, before, 1, 6, 9, 7], options
            got = np.zeros(3, "i8")
            assert shmem.g(a, to, index=5, ctx=ctx) == 6 and shmem.atomic_fetch(a, to, index=6, ctx=ctx) == 9
            shmem.get_nbi(got[:2], a[4:6], to, ctx=ctx)
            ctx.quiet()
            shmem.get(got[2:], a[7:], to, ctx=ctx)
            assert got.tolist() == [1, 6, 7]
            refused(IndexError, f"no PE {n}; there are {n}", shmem.get, got, a, n, ctx=ctx)
            shmem.barrier_all()
    ctx = shmem.WORLD.context()
    ctx.destroy()
    assert ctx.handle is None


@group
def teams(me, n):
    """Members count from 0 in their team; others take no part."""
    rows = [shmem.WORLD.split_strided(begin, 2, (n - begin + 1) // 2) for begin in range(min(2, n))]
    mine, (mates, place) = rows[me % 2], (list(range(me % 2, n, 2)), me // 2)
    assert [bool(team) for team in rows] == [me % 2 == parity for parity in range(len(rows))]
    for team in rows:
        assert (team.my_pe(), team.n_pes()) == ((place, len(mates)) if team else (-1, -1))
    assert [mine.translate(i, shmem.WORLD) for i in range(len(mates))] == mates
    assert [shmem.WORLD.translate(i, mine) for i in range(n)] == [i // 2 if i % 2 == me % 2 else -1 for i in range(n)]
    a, b = shmem.zeros(2 * n, "i8"), shmem.zeros(n, "i8")
    b[:] = np.arange(n) + 10 * me
    mine.broadcast(a[:n], b, len(mates) - 1)
    assert place == len(mates) - 1 or a[:n].tolist() == [i + 10 * mates[-1] for i in range(n)]
    mine.fcollect(a, b[:1])
    assert a[:len(mates)].tolist() == [10 * i for i in mates]
    mine.alltoall(a, b[:len(mates)])
    assert a[:len(mates)].tolist() == [10 * i + place for i in mates]
    mine.reduce(a, b[:2], "max") if n > 1 else None
    assert n == 1 or a[:2].tolist() == [10 * mates[-1], 10 * mates[-1] + 1]
    mine.scan(a, b[:1])
    assert a[0] == sum(10 * i for i in mates[:place + 1])
    mine.sync()
    refused(IndexError, "no PE", mine.broadcast, a, b, len(mates))
    refused(shmem.ShmemError, "split_strided failed with status", shmem.WORLD.split_strided, 0, 1, n + 1)
    mine.destroy()
    assert not mine and shmem.SHARED.n_pes() <= n and shmem.SHARED.translate(shmem.SHARED.my_pe(), shmem.WORLD) == me
    shmem.barrier_all()


@group
def threads(me, n):
    """Each thread has cells and a context of its own, and shares a counter; one that waits lets the others run."""
    to, count, rounds, results = (me + 1) % n, 4, 20, []
    cells, sums = shmem.zeros(count, "i8"), shmem.zeros(count, "i8")
    contexts_ = [shmem.WORLD.context() for _ in range(count)]

    def work(i):
        for turn in range(1, rounds + 1):
            shmem.p(cells, turn, to, index=i)
            shmem.wait_until(cells, shmem.GE, turn, index=i)
            shmem.atomic_add(sums, i + 1, to, index=i, ctx=contexts_[i])
        contexts_[i].quiet()
        back = np.zeros(1, "i8")
        shmem.get_nbe(back, cells[i:i + 1], me).free()
        counter.add(to, i)
        results.append(int(back[0]) >= rounds)
    with shmem.Counter() as counter:
        some = [threading.Thread(target=work, args=(i,)) for i in range(count)]
        some.append(threading.Thread(target=lambda: results.append(counter.wait(6))))
        for step in (threading.Thread.start, threading.Thread.join):
            for one in reversed(some):
                step(one)
        assert sorted(results) == [True] * count + [6], results
        shmem.barrier_all()
    assert sums.tolist() == [20, 40, 60, 80]
    for ctx in contexts_:
        ctx.destroy()


@group
def locks(me, n):
    """One PE at a time; what is no lock, request or counter any more says so or does nothing."""
    lock, total, order = shmem.Lock(), shmem.zeros(2, "i8"), shmem.zeros(n, "i8")
    for _ in range(5):
        with lock:
            shmem.p(total, shmem.g(total, 0) + me, 0)
            shmem.quiet()
    while not lock.test():
        pass
    turn = shmem.g(total, 0, index=1)
    shmem.p(total, turn + 1, 0, index=1)
    shmem.p(order, me + 1, 0, index=int(turn))
    shmem.quiet()
    lock.release()
    shmem.barrier_all()
    if me == 0:
        assert total.tolist() == [5 * n * (n - 1) // 2, n] and sorted(order.tolist()) == list(range(1, n + 1))
    lock.free()
    request = shmem.Request()
    assert request.test() and request.wait() is None and request.free() is None


@group
def raises(me, n):
    """An exception at one PE ends the job; the others wait in a barrier."""
    if me == n - 1:
        raise KeyError("a mistake of the program")
    shmem.barrier_all()


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(GROUPS))
    else:
        import numpy as np
        import lateral.shmem as shmem
        refused(ValueError, "empty: shmem.init() has not been called", shmem.empty, 3)
        with shmem.job():
            assert shmem.initialized() and shmem.version() == (1, 6) and shmem.init() == shmem.THREAD_MULTIPLE
            GROUPS[sys.argv[1]](shmem.my_pe(), shmem.n_pes())
            shmem.barrier_all()
