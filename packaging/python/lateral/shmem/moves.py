"""Put, get and signals."""
import numpy as np
from numpy import ndarray

from lateral.shmem.core import SIGNAL_SET, _blocks, _c, _field, _int, _pe, _ptr, _size, _state, _u64
from lateral.shmem.memory import _array, _element, _is_accessible, _is_ours, _not_contiguous, _symmetric

_U64 = np.dtype("u8")
_SIZES = (1, 2, 4, 8, 16)


def _pair(call, dest, source, puts):
    """Addresses and length of a move of all of source (puts) or of dest. None where one of them has gaps."""
    if not isinstance(dest, ndarray):
        dest = _array(dest)
    if not isinstance(source, ndarray):
        source = _array(source)
    if not (dest.flags.c_contiguous and source.flags.c_contiguous):
        return None
    if dest.dtype is not source.dtype:
        _same_type(call, dest, source)
    to, at = _field[id(dest) >> 3], _field[id(source) >> 3]
    if puts:
        far, moved, room = to, source.nbytes, dest.nbytes
    else:
        far, moved, room = at, dest.nbytes, source.nbytes
        if not dest.flags.writeable:
            raise ValueError(f"{call}: dest is read-only")
    if moved > room:
        raise ValueError(f"{call}: {(source if puts else dest).size} elements do not fit: dest has {dest.size}, source {source.size}")
    if far not in _blocks and not _is_ours(far):
        _symmetric(dest if puts else source, call, "dest" if puts else "source")
    return to, at, moved


def _same_type(call, dest, source):
    if dest.dtype != source.dtype:
        raise TypeError(f"{call}: dest has elements of {dest.dtype}, source of {source.dtype}")


def _mover(name, text, *kinds):
    """put, get or one of their forms. kinds: what follows the PE in C, and ctx here."""
    puts, stem, tail = name[:3] == "put", name[:3] + "mem" + name[3:], name[3:]
    if tail == "_nbe":
        plain, in_ctx = _c("x_" + stem, None, _ptr, _ptr, _size, _int, *kinds), None
    else:
        plain, in_ctx = _c(stem, None, _ptr, _ptr, _size, _int), _c("ctx_" + stem, None, _ptr, _ptr, _ptr, _size, _int)
    steps = {}                                              # iput or iget, by the size of an element, below 0 with a context

    def call(dest, source, pe, ctx=None, track=None):
        pair = _pair(name, dest, source, puts)
        if pair is None:
            return strided(dest, source, pe, ctx, track)
        to, at, size = pair
        if ctx is not None:
            return in_ctx(ctx.handle, to, at, size, _pe(pe, name, ctx.pes))
        if not 0 <= pe < _state.pes:
            _pe(pe, name)
        return plain(to, at, size, pe) if track is None else plain(to, at, size, pe, track)

    def strided(dest, source, pe, ctx, track):
        """By iput or iget. The standard has no form of them that quiet completes: that one is complete when it returns."""
        if not isinstance(dest, ndarray):
            dest = _array(dest)
        if not isinstance(source, ndarray):
            source = _array(source)
        item = dest.itemsize
        if not (dest.ndim == source.ndim == 1 and item in _SIZES):
            _not_contiguous()
        if dest.dtype is not source.dtype:
            _same_type(name, dest, source)
        to_count, at_count = dest.size, source.size
        count = at_count if puts else to_count
        if count > to_count or count > at_count:
            raise ValueError(f"{name}: {count} elements do not fit: dest has {to_count}, source {at_count}")
        if not puts and not dest.flags.writeable:
            raise ValueError(f"{name}: dest is read-only")
        (there,), (here,) = dest.strides, source.strides
        if there < 1 or here < 1:
            there, here = there if to_count > 1 else item, here if at_count > 1 else item
        if (there | here) % item or there < 1 or here < 1:                              # item: a power of 2
            raise ValueError(f"{name}: strides must be positive and whole elements")
        to, at = _field[id(dest) >> 3], _field[id(source) >> 3]
        far = to if puts else at
        if far not in _blocks and not _is_ours(far) and count and not _is_accessible(far, _state.me):
            raise ValueError(f"{name}: {'dest' if puts else 'source'} is not symmetric")
        function = steps.get(item if ctx is None else -item)
        if function is None:
            form = ("" if tail == "_nbi" else tail, "x_" if tail == "_nbe" else "", "" if ctx is None else "ctx_")
            function = _c(f"{form[1]}{form[2]}i{name[:3]}{8 * item}{form[0]}", None, *([_ptr] if ctx else []), _ptr, _ptr, _size, _size, _size, _int, *kinds)
            steps[item if ctx is None else -item] = function
        if ctx is not None:
            return function(ctx.handle, to, at, there // item, here // item, count, _pe(pe, name, ctx.pes))
        if not 0 <= pe < _state.pes:
            _pe(pe, name)
        if track is not None:
            return function(to, at, there // item, here // item, count, pe, track)
        return function(to, at, there // item, here // item, count, pe)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name}(dest, source, pe, ctx=None): {text}"
    return call


put = _mover("put", "copies all of source to dest at that PE; source is free when it returns.")
get = _mover("get", "fills dest from source at that PE; dest is complete when it returns.")
put_nbi = _mover("put_nbi", "a put that is complete at the next quiet.")
get_nbi = _mover("get_nbi", "a get that is complete at the next quiet.")


_putmem, _ctx_putmem = (_c(lead + "putmem", None, *more, _ptr, _ptr, _size, _int) for lead, more in (("", ()), ("ctx_", (_ptr,))))
_getmem, _ctx_getmem = (_c(lead + "getmem", None, *more, _ptr, _ptr, _size, _int) for lead, more in (("", ()), ("ctx_", (_ptr,))))


def p(dest, value, pe, index=0, ctx=None):
    """Stores one element at that PE."""
    one = np.array(value, dtype=dest.dtype)
    if one.size != 1:
        raise ValueError(f"p: one value is stored, not {one.size}")
    at = _element(dest, index, "p")
    if ctx is None:
        _putmem(at, _field[id(one) >> 3], one.nbytes, _pe(pe, "p"))
    else:
        _ctx_putmem(ctx.handle, at, _field[id(one) >> 3], one.nbytes, _pe(pe, "p", ctx.pes))


def g(source, pe, index=0, ctx=None):
    """Returns one element of that PE."""
    one = np.empty(1, source.dtype)
    at = _element(source, index, "g")
    if ctx is None:
        _getmem(_field[id(one) >> 3], at, one.nbytes, _pe(pe, "g"))
    else:
        _ctx_getmem(ctx.handle, _field[id(one) >> 3], at, one.nbytes, _pe(pe, "g", ctx.pes))
    return one[0]


_putmem_signal, _putmem_signal_nbi, _ctx_putmem_signal, _ctx_putmem_signal_nbi = (
    _c(f"{'ctx_' * len(lead)}putmem_signal{tail}", None, *lead, _ptr, _ptr, _size, _ptr, _u64, _int, _int)
    for lead in ((), (_ptr,)) for tail in ("", "_nbi"))


def put_signal(dest, source, signal, value, pe, op=SIGNAL_SET, index=0, ctx=None, nbi=False):
    """A put; behind its data the signal, an element of a symmetric array of uint64, is set or increased at that PE."""
    to, at, size = _pair("put_signal", dest, source, True) or _not_contiguous()
    where = _element(signal, index, "put_signal") if signal.dtype is _U64 else _signal(signal, index, "put_signal")
    if ctx is not None:
        function = _ctx_putmem_signal_nbi if nbi else _ctx_putmem_signal
        return function(ctx.handle, to, at, size, where, value, op, _pe(pe, "put_signal", ctx.pes))
    if not 0 <= pe < _state.pes:
        _pe(pe, "put_signal")
    return (_putmem_signal_nbi if nbi else _putmem_signal)(to, at, size, where, value, op, pe)


def _signal(signal, index, call):
    if signal.dtype is not _U64 and signal.dtype != _U64:
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
