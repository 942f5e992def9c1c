"""Atomics, and waiting for elements of arrays."""
import ctypes

import numpy as np

from lateral.shmem.core import _ATOMIC, _BITS, _EXTENDED, _VALUES, _c, _data, _int, _pe, _ptr, _size, _state, _type
from lateral.shmem.memory import _element, _symmetric


def _atomic(name, allowed, fetches, operands):
    functions = {}                                          # by the element's type

    def call(target, *values, index=0, ctx=None):
        if len(values) != operands + 1:
            raise TypeError(f"{call.__name__}: wants the array, {operands} value{'s' if operands != 1 else ''} and the PE")
        function = functions.get((target.dtype, ctx is None))
        if function is None:
            kind = _type(target, allowed, call.__name__)
            value = _VALUES[kind]
            function = _c(f"{'ctx_' if ctx else ''}{kind}_atomic_{name}", value if fetches else None,
                          *([_ptr] if ctx else []), _ptr, *[value] * operands, _int)
            functions[(target.dtype, ctx is None)] = function
        at, pe = _element(target, index, call.__name__), values[-1]
        if ctx is not None:
            return function(ctx.handle, at, *values[:-1], _pe(pe, call.__name__, ctx.pes))
        if not 0 <= pe < _state.pes:
            _pe(pe, call.__name__)
        return function(at, *values)
    call.__name__ = call.__qualname__ = "atomic_" + name
    words = ("target", "compare, value" if operands == 2 else "value" if operands else "", "pe")
    call.__doc__ = (f"{call.__name__}({', '.join(filter(None, words))}, index=0, ctx=None): atomic at that PE"
                    + ("; returns the value before." if fetches else "."))
    return call


atomic_fetch = _atomic("fetch", _EXTENDED, True, 0)
atomic_set = _atomic("set", _EXTENDED, False, 1)
atomic_swap = _atomic("swap", _EXTENDED, True, 1)
atomic_compare_swap = _atomic("compare_swap", _ATOMIC, True, 2)
atomic_inc = _atomic("inc", _ATOMIC, False, 0)
atomic_fetch_inc = _atomic("fetch_inc", _ATOMIC, True, 0)
atomic_add = _atomic("add", _ATOMIC, False, 1)
atomic_fetch_add = _atomic("fetch_add", _ATOMIC, True, 1)
atomic_and = _atomic("and", _BITS, False, 1)
atomic_fetch_and = _atomic("fetch_and", _BITS, True, 1)
atomic_or = _atomic("or", _BITS, False, 1)
atomic_fetch_or = _atomic("fetch_or", _BITS, True, 1)
atomic_xor = _atomic("xor", _BITS, False, 1)
atomic_fetch_xor = _atomic("fetch_xor", _BITS, True, 1)


_WAITS = _ATOMIC | {"int16", "uint16"}
_SHORT = {"int16": "short", "uint16": "ushort"}             # only waits have these types, by the names of C


def wait_until(target, compare, value, index=0):
    """Waits until the comparison of an element here with value holds."""
    kind = _type(target, _WAITS, "wait_until")
    _c(_SHORT.get(kind, kind) + "_wait_until", None, _ptr, _int, _VALUES[kind])(_element(target, index, "wait_until"), compare, value)


def test(target, compare, value, index=0):
    """True where the comparison of an element here with value holds."""
    kind = _type(target, _WAITS, "test")
    return bool(_c(_SHORT.get(kind, kind) + "_test", _int, _ptr, _int, _VALUES[kind])(_element(target, index, "test"), compare, value))


_LISTS = {"wait_until_all": None, "test_all": _int}         # others return a size
_several_bound = {}
_INT32 = np.dtype(np.int32)


def _several(name, target, compare, value, status, found=()):
    """Calls shmem_TYPE_NAME or its form with a vector of values; found: the address where indices go, if it has one."""
    many = isinstance(value, np.ndarray) and value.ndim > 0
    function = _several_bound.get((name, target.dtype, many))
    if function is None:
        kind = _type(target, _ATOMIC, name)
        function = _c(f"{kind}_{name}{'_vector' if many else ''}", _LISTS.get(name, _size), _ptr, _size, *(_ptr for _ in found), _ptr, _int,
                      _ptr if many else _VALUES[kind])
        _several_bound[name, target.dtype, many] = function
    count = target.size
    at = _symmetric(target, name, "the array") if count else 0
    if many:
        if value.size != count or (value.dtype is not target.dtype and value.dtype != target.dtype):
            raise ValueError(f"{name}: {count} values of {target.dtype} are needed, one for each element")
        held = value if value.flags.c_contiguous else np.ascontiguousarray(value)
        value = _data(held)
    if status is None:
        return function(at, count, *found, None, compare, value)
    if not (isinstance(status, np.ndarray) and status.dtype is _INT32 and status.flags.c_contiguous):
        status = np.ascontiguousarray(status, dtype=_INT32)
    if status.size != count:
        raise ValueError(f"{name}: status has {status.size} elements, the array {count}")
    return function(at, count, *found, _data(status), compare, value)


def _indices(name, target, compare, value, status):
    found = np.empty(target.size or 1, dtype=np.intp)
    return found[:_several(name, target, compare, value, status, (_data(found),))]


def _index(found):
    return None if found == ctypes.c_size_t(-1).value else found


def wait_until_all(target, compare, value, status=None):
    """Waits until the comparison holds for all elements; those with a status other than 0 are left out. value: one, or an array."""
    _several("wait_until_all", target, compare, value, status)


def wait_until_any(target, compare, value, status=None):
    """Waits until it holds for one element; returns its index, or None where there is none to wait for."""
    return _index(_several("wait_until_any", target, compare, value, status))


def wait_until_some(target, compare, value, status=None):
    """Waits until it holds for at least one element; returns an array of indices."""
    return _indices("wait_until_some", target, compare, value, status)


def test_all(target, compare, value, status=None):
    """True where the comparison holds for all elements."""
    return bool(_several("test_all", target, compare, value, status))


def test_any(target, compare, value, status=None):
    """The index of an element for which it holds, or None."""
    return _index(_several("test_any", target, compare, value, status))


def test_some(target, compare, value, status=None):
    """The indices of all elements for which it holds."""
    return _indices("test_some", target, compare, value, status)
