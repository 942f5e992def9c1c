"""Symmetric arrays, and the addresses of arrays."""
import contextlib
import ctypes
from bisect import bisect
from operator import index as _integer

import numpy as np
from numpy import ndarray

from lateral.shmem.core import _blocks, _c, _field, _int, _pe, _ptr, _size, _state, _u64

_is_accessible = _c("addr_accessible", _int, _ptr, _int)


def empty(shape, dtype="f8", align=64):
    """A symmetric array with undefined elements. Collective; all PEs give the same size. MemoryError where the heap is full."""
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError("empty: Python objects cannot be symmetric")
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    count = 1
    for extent in shape:
        if extent < 0:
            raise ValueError(f"empty: negative extent in {shape}")
        count *= int(extent)
    size = count * dtype.itemsize
    if not _state.pes:
        raise ValueError("empty: shmem.init() has not been called")
    at = _c("align", _ptr, _u64, _size)(align, max(size, 1))
    if not at:
        raise MemoryError(f"empty: no {size} bytes left in the symmetric heap; LATERAL_HEAP sets its size")
    _blocks[at] = max(size, 1)
    _sort_blocks()
    return np.frombuffer((ctypes.c_char * max(size, 1)).from_address(at), dtype=np.uint8, count=size).view(dtype).reshape(shape)


def full(shape, value, dtype="f8"):
    """A symmetric array of equal elements; no PE leaves before all have filled theirs."""
    made = empty(shape, dtype)
    made[...] = value
    _c("barrier_all", None)()
    return made


def zeros(shape, dtype="f8"):
    """A symmetric array of zeros; no PE leaves before all have filled theirs."""
    made = empty(shape, dtype)
    ctypes.memset(_where(made), 0, made.nbytes)      # as numpy.zeros: b"" for strings, where full would write b"0"
    _c("barrier_all", None)()
    return made


def array(values, dtype=None):
    """A symmetric array with a copy of values, which have the same shape and type at every PE."""
    values = np.asarray(values, dtype=dtype)
    made = empty(values.shape, values.dtype)
    made[...] = values
    _c("barrier_all", None)()
    return made


def free(symmetric):
    """Gives back what empty, zeros, full or array made. Collective. Neither it nor its slices may be used afterwards."""
    at = _where(symmetric)
    if _blocks.pop(at, None) is None:
        raise ValueError("free: not an array that empty, zeros, full or array made, or freed before")
    _sort_blocks()
    _c("free", None, _ptr)(at)


@contextlib.contextmanager
def allocated(shape, dtype="f8", value=0):
    """`with shmem.allocated(10, "i4") as a`: full at the begin, free at the end of the block."""
    made = full(shape, value, dtype)
    yield made
    free(made)


def remote(symmetric, pe):
    """The array of that PE as an array here, where its memory can be reached by loads and stores; else None."""
    at = _c("ptr", _ptr, _ptr, _int)(_where(symmetric), _pe(pe, "remote"))
    if not at:
        return None
    raw = (ctypes.c_char * symmetric.nbytes).from_address(at)
    return np.frombuffer(raw, dtype=np.uint8).view(symmetric.dtype).reshape(symmetric.shape)


def accessible(array_, pe):
    """True where the array is symmetric and the PE can be reached."""
    return bool(_is_accessible(_where(array_), pe))


def _sort_blocks():
    starts = sorted(_blocks)
    _state.heap = starts, [start + _blocks[start] for start in starts]


def _is_ours(at):
    """True within an array that empty made: the usual case needs no question to the library."""
    starts, ends = _state.heap
    i = bisect(starts, at)
    return i > 0 and at < ends[i - 1]


def _array(a):
    """a, or the array over its buffer."""
    if isinstance(a, np.ndarray):
        return a
    try:
        return np.asarray(memoryview(a))
    except TypeError:
        raise TypeError("an array or a buffer is needed, not a scalar or a list: a copy would not be the caller's memory") from None


def _where(a):
    """The address of a contiguous array or a buffer."""
    if not isinstance(a, np.ndarray):
        a = _array(a)
    return _field[id(a) >> 3] if a.flags.c_contiguous else _not_contiguous()


def _not_contiguous():
    raise ValueError("the array is not contiguous: only one-dimensional slices may have a stride, in put and get")


def _symmetric(a, call, name="dest"):
    """The address of a contiguous symmetric array."""
    if not isinstance(a, ndarray):
        a = _array(a)
    if not a.flags.c_contiguous:
        _not_contiguous()
    at = _field[id(a) >> 3]
    if at not in _blocks and not _is_ours(at) and not _is_accessible(at, _state.me):
        raise ValueError(f"{call}: {name} is not symmetric: make it by shmem.empty, zeros, full or array")
    return at


def _element(a, index, call):
    """The address of one element of a symmetric array."""
    if not 0 <= index < a.size:
        raise IndexError(f"{call}: no element {index} in an array of {a.size}")
    if not a.flags.c_contiguous:
        _not_contiguous()
    at = _field[id(a) >> 3]
    if at not in _blocks and not _is_ours(at):
        _symmetric(a, call, "the array")
    return at + _integer(index) * a.itemsize if index else at      # NumPy's integers, too
