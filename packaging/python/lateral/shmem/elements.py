"""Atomics, and waiting for elements of arrays."""
import ctypes

import numpy as np
from numpy import empty, ndarray

from lateral.shmem.core import _ATOMIC, _BITS, _EXTENDED, _HEAD, _VALUES, _c, _field, _int, _pe, _ptr, _size, _state, _type
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


_INT32, _INDEX = np.dtype(np.int32), np.dtype(np.intp)


def _several(name, text, result=_size, finds=False):
    """A wait or test of many elements. finds: it returns an array of indices."""
    functions = {}, {}                                      # by the elements' type, with one value and with one for each

    def bind(target, many):
        kind = _type(target, _ATOMIC, name)
        function = _c(f"{kind}_{name}{'_vector' if many else ''}", result, _ptr, _size, *([_ptr] if finds else []), _ptr, _int,
                      _ptr if many else _VALUES[kind])
        functions[many][target.dtype] = function
        return function

    def call(target, compare, value, status=None):
        many = isinstance(value, ndarray) and value.ndim > 0
        function = functions[many].get(target.dtype) or bind(target, many)
        count, at = target.size, 0
        if count:
            at = _symmetric(target, name, "the array")
        if many:
            if value.size != count or (value.dtype is not target.dtype and value.dtype != target.dtype):
                raise ValueError(f"{name}: {count} values of {target.dtype} are needed, one for each element")
            held = value if value.flags.c_contiguous else np.ascontiguousarray(value)
            value = _field(id(held) + _HEAD)                # the address, as in _data, without its call
        chosen = None
        if status is not None:
            if not (isinstance(status, ndarray) and status.dtype is _INT32 and status.flags.c_contiguous):
                status = np.ascontiguousarray(status, dtype=_INT32)
            if status.size != count:
                raise ValueError(f"{name}: status has {status.size} elements, the array {count}")
            chosen = _field(id(status) + _HEAD)
        if not finds:
            got = function(at, count, chosen, compare, value)
            return bool(got) if result is _int else got
        found = empty(count or 1, _INDEX)
        return found[:function(at, count, _field(id(found) + _HEAD), chosen, compare, value)]
    call.__name__ = call.__qualname__ = name
    call.__doc__ = text
    return call


_NONE = ctypes.c_size_t(-1).value


def _index(found):
    return None if found == _NONE else found


wait_until_all = _several("wait_until_all", """Waits until the comparison holds for all elements; those with a status other than 0 are left
out. value: one, or an array.""", None)
wait_until_some = _several("wait_until_some", "Waits until it holds for at least one element; returns an array of indices.", finds=True)
test_all = _several("test_all", "True where the comparison holds for all elements.", _int)
test_some = _several("test_some", "The indices of all elements for which it holds.", finds=True)
_wait_until_any, _test_any = _several("wait_until_any", ""), _several("test_any", "")


def wait_until_any(target, compare, value, status=None):
    """Waits until it holds for one element; returns its index, or None where there is none to wait for."""
    return _index(_wait_until_any(target, compare, value, status))


def test_any(target, compare, value, status=None):
    """The index of an element for which it holds, or None."""
    return _index(_test_any(target, compare, value, status))
