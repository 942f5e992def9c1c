"""Put, get and signals."""
import numpy as np

from lateral.shmem.core import SIGNAL_SET, _address, _bytes, _c, _diff, _int, _pe, _ptr, _size, _state, _u64
from lateral.shmem.memory import _element, _symmetric, _where


_SIZES = {1: "8", 2: "16", 4: "32", 8: "64", 16: "128"}


def _pair(call, dest, source, whole):
    """Addresses and length of a move; `whole` is the array whose elements all move."""
    try:
        to, at = _address(_bytes(dest)), _address(_bytes(source))
    except (TypeError, ValueError, BufferError):
        to, at = _where(dest)[0], _where(source)[0]
    if dest.dtype is not source.dtype and dest.dtype != source.dtype:
        raise TypeError(f"{call}: dest has elements of {dest.dtype}, source of {source.dtype}")
    size = whole.nbytes
    if size > dest.nbytes or size > source.nbytes:
        raise ValueError(f"{call}: {whole.size} elements do not fit: dest has {dest.size}, source {source.size}")
    return to, at, size


def _strided(dest, source):
    return (dest.ndim == 1 and source.ndim == 1 and not (dest.flags.c_contiguous and source.flags.c_contiguous)
            and dest.itemsize in _SIZES and dest.dtype == source.dtype)


def _move(call, remote_name, dest, source, pe, ctx, tail="", more=(), kinds=()):
    whole = source if call.startswith("put") else dest
    if isinstance(dest, np.ndarray) and isinstance(source, np.ndarray) and _strided(dest, source):
        return _move_strided(call, dest, source, pe, ctx, tail, more, kinds)
    to, at, size = _pair(call, dest, source, whole)
    far = to if remote_name == "dest" else at
    if not _known(far):
        _symmetric(dest if remote_name == "dest" else source, call, remote_name)
    _pe(pe, call, ctx.pes if ctx else None)
    if ctx:
        return _c(f"ctx_{call[:3]}mem{tail}", None, _ptr, _ptr, _ptr, _size, _int, *kinds)(ctx.handle, to, at, size, pe, *more)
    return _c(f"{call[:3]}mem{tail}" if not tail.startswith("_nbe") else f"x_{call[:3]}mem{tail}",
              None, _ptr, _ptr, _size, _int, *kinds)(to, at, size, pe, *more)


def _known(at):
    """True for the beginning of a block of ours: the common case needs no question to the library."""
    return at in _state.blocks


def _move_strided(call, dest, source, pe, ctx, tail, more, kinds):
    if tail == "_nbi":
        tail = ""                                           # the standard has no strided form of it
    count = source.size if call.startswith("put") else dest.size
    if count > dest.size or count > source.size:
        raise ValueError(f"{call}: {count} elements do not fit: dest has {dest.size}, source {source.size}")
    steps = [a.strides[0] // a.itemsize if a.size > 1 else 1 for a in (dest, source)]
    if min(steps) < 1 or any(a.strides[0] % a.itemsize for a in (dest, source)):
        raise ValueError(f"{call}: strides must be positive and whole elements")
    far = dest if call.startswith("put") else source
    if count and not _c("addr_accessible", _int, _ptr, _int)(far.ctypes.data, _state.me):
        raise ValueError(f"{call}: {'dest' if far is dest else 'source'} is not symmetric")
    _pe(pe, call, ctx.pes if ctx else None)
    name = f"i{call[:3]}{_SIZES[dest.itemsize]}{tail}"
    lead = (ctx.handle,) if ctx else ()
    prefix = ("x_" if tail else "") + ("ctx_" if ctx else "")
    _c(prefix + name, None, *(_ptr for _ in lead), _ptr, _ptr, _diff, _diff, _size, _int, *kinds)(
        *lead, dest.ctypes.data, source.ctypes.data, *steps, count, pe, *more)


def put(dest, source, pe, ctx=None):
    """Copies all of source to dest at that PE; source is free when it returns."""
    if ctx is None:
        try:
            to, at = _address(_bytes(dest)), _address(_bytes(source))
            if to in _state.blocks and dest.dtype is source.dtype and source.nbytes <= dest.nbytes and 0 <= pe < _state.pes:
                _putmem(to, at, source.nbytes, pe)
                return
        except (TypeError, ValueError, BufferError, AttributeError):
            pass
    _move("put", "dest", dest, source, pe, ctx)


def get(dest, source, pe, ctx=None):
    """Fills dest from source at that PE; dest is complete when it returns."""
    if ctx is None:
        try:
            to, at = _address(_bytes(dest)), _address(_bytes(source))
            if at in _state.blocks and dest.dtype is source.dtype and dest.nbytes <= source.nbytes and 0 <= pe < _state.pes:
                _getmem(to, at, dest.nbytes, pe)
                return
        except (TypeError, ValueError, BufferError, AttributeError):
            pass
    _move("get", "source", dest, source, pe, ctx)


_putmem = _c("putmem", None, _ptr, _ptr, _size, _int)
_getmem = _c("getmem", None, _ptr, _ptr, _size, _int)


def put_nbi(dest, source, pe, ctx=None):
    """A put that is complete at the next quiet."""
    _move("put_nbi", "dest", dest, source, pe, ctx, "_nbi")


def get_nbi(dest, source, pe, ctx=None):
    """A get that is complete at the next quiet."""
    _move("get_nbi", "source", dest, source, pe, ctx, "_nbi")


def p(dest, value, pe, index=0, ctx=None):
    """Stores one element at that PE."""
    one = np.array([value], dtype=dest.dtype)
    at = _element(dest, index, "p")
    _pe(pe, "p", ctx.pes if ctx else None)
    if ctx:
        _c("ctx_putmem", None, _ptr, _ptr, _ptr, _size, _int)(ctx.handle, at, one.ctypes.data, one.nbytes, pe)
    else:
        _putmem(at, _address(_bytes(one)), one.nbytes, pe)


def g(source, pe, index=0, ctx=None):
    """Returns one element of that PE."""
    one = np.empty(1, dtype=source.dtype)
    at = _element(source, index, "g")
    _pe(pe, "g", ctx.pes if ctx else None)
    if ctx:
        _c("ctx_getmem", None, _ptr, _ptr, _ptr, _size, _int)(ctx.handle, one.ctypes.data, at, one.nbytes, pe)
    else:
        _getmem(_address(_bytes(one)), at, one.nbytes, pe)
    return one[0]


def put_signal(dest, source, signal, value, pe, op=SIGNAL_SET, index=0, ctx=None, nbi=False):
    """A put; behind its data the signal, an element of a symmetric array of uint64, is set or increased at that PE."""
    to, at, size = _pair("put_signal", dest, source, source)
    _symmetric(dest, "put_signal")
    where = _signal(signal, index, "put_signal")
    _pe(pe, "put_signal", ctx.pes if ctx else None)
    lead = (ctx.handle,) if ctx else ()
    name = ("ctx_" if ctx else "") + "putmem_signal" + ("_nbi" if nbi else "")
    _c(name, None, *(_ptr for _ in lead), _ptr, _ptr, _size, _ptr, _u64, _int, _int)(*lead, to, at, size, where, value, op, pe)


def _signal(signal, index, call):
    if signal.dtype != np.uint64:
        raise TypeError(f"{call}: a signal is an element of uint64, not of {signal.dtype}")
    return _element(signal, index, call)


def signal_add(signal, value, pe, index=0):
    """Adds to the signal at that PE."""
    _c("signal_add", None, _ptr, _u64, _int)(_signal(signal, index, "signal_add"), value, _pe(pe, "signal_add"))


def signal_set(signal, value, pe, index=0):
    """Sets the signal at that PE."""
    _c("signal_set", None, _ptr, _u64, _int)(_signal(signal, index, "signal_set"), value, _pe(pe, "signal_set"))


def signal_fetch(signal, index=0):
    """The signal's value here."""
    return _c("signal_fetch", _u64, _ptr)(_signal(signal, index, "signal_fetch"))


def signal_wait_until(signal, compare, value, index=0):
    """Waits until the comparison with the signal here holds; returns the signal's value."""
    return _c("signal_wait_until", _u64, _ptr, _int, _u64)(_signal(signal, index, "signal_wait_until"), compare, value)
