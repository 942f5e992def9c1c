"""Atomics, and waiting for elements of arrays."""
import ctypes

import numpy as np
from numpy import empty, ndarray

from lateral.shmem.core import _ATOMIC, _BITS, _EXTENDED, _VALUES, _blocks, _c, _field, _int, _pe, _ptr, _size, _state, _type, _u64
from lateral.shmem.memory import _element, _symmetric


def _atomic(name, allowed, fetches, operands):
    name = "atomic_" + name
    plain, in_ctx = {}, {}                                  # functions, by the element's type

    def bind(target, ctx):
        kind = _type(target, allowed, name)
        value, lead = _VALUES[kind], () if ctx is None else (_ptr,)
        function = _c(f"{'ctx_' * len(lead)}{kind}_{name}", value if fetches else None, *lead, _ptr, *[value] * operands, _int)
        (plain if ctx is None else in_ctx)[target.dtype] = function
        return function

    def call(target, *values, index=0, ctx=None):
        if len(values) != operands + 1:
            raise TypeError(f"{name}: wants the array, {operands} value{'s' if operands != 1 else ''} and the PE")
        function = (plain if ctx is None else in_ctx).get(target.dtype) or bind(target, ctx)
        at, pe = _element(target, index, name), values[-1]
        if ctx is not None:
            return function(ctx.handle, at, *values[:-1], _pe(pe, name, ctx.pes))
        if not 0 <= pe < _state.pes:
            _pe(pe, name)
        return function(at, *values)
    call.__name__ = call.__qualname__ = name
    words = ("target", "compare, value" if operands == 2 else "value" if operands else "", "pe")
    call.__doc__ = (f"{name}({', '.join(filter(None, words))}, index=0, ctx=None): atomic at that PE"
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


def _one(name, text, result):
    """A wait or test of one element."""
    functions = {}                                          # by its type

    def bind(target):
        kind = _type(target, _WAITS, name)
        return functions.setdefault(target.dtype, _c(f"{_SHORT.get(kind, kind)}_{name}", result, _ptr, _int, _VALUES[kind]))

    def call(target, compare, value, index=0):
        return (functions.get(target.dtype) or bind(target))(_element(target, index, name), compare, value)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = text
    return call


wait_until = _one("wait_until", "Waits until the comparison of an element here with value holds.", None)
test = _one("test", "True where the comparison of an element here with value holds.", bool)


_INT32, _INDEX = np.dtype(np.int32), np.dtype(np.intp)


def _several(name, text, result=_u64, finds=False):
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
        dtype, count, at = target.dtype, target.size, 0
        function = functions[many].get(dtype) or bind(target, many)
        if count:
            if isinstance(target, ndarray) and target.flags.c_contiguous:
                at = _field[id(target) >> 3]
            if at not in _blocks:
                at = _symmetric(target, name, "the array")
        if many:
            if value.size != count or (value.dtype is not dtype and value.dtype != dtype):
                raise ValueError(f"{name}: {count} values of {dtype} are needed, one for each element")
            held = value if value.flags.c_contiguous else np.ascontiguousarray(value)
            value = _field[id(held) >> 3]
        chosen = None
        if status is not None:
            if not (isinstance(status, ndarray) and status.dtype is _INT32 and status.flags.c_contiguous):
                status = np.ascontiguousarray(status, dtype=_INT32)
            if status.size != count:
                raise ValueError(f"{name}: status has {status.size} elements, the array {count}")
            chosen = _field[id(status) >> 3]
        if not finds:
            return function(at, count, chosen, compare, value)
        found = empty(count or 1, _INDEX)
        return found[:function(at, count, _field[id(found) >> 3], chosen, compare, value)]
    call.__name__ = call.__qualname__ = name
    call.__doc__ = text
    return call


_NONE = ctypes.c_size_t(-1).value


def _index(found):
    return None if found == _NONE else found


wait_until_all = _several("wait_until_all", """Waits until the comparison holds for all elements; those with a status other than 0 are left
out. value: one, or an array.""", None)
wait_until_some = _several("wait_until_some", "Waits until it holds for at least one element; returns an array of indices.", finds=True)
test_all = _several("test_all", "True where the comparison holds for all elements.", bool)
test_some = _several("test_some", "The indices of all elements for which it holds.", finds=True)
_wait_until_any, _test_any = _several("wait_until_any", ""), _several("test_any", "")


def wait_until_any(target, compare, value, status=None):
    """Waits until it holds for one element; returns its index, or None where there is none to wait for."""
    return _index(_wait_until_any(target, compare, value, status))


def test_any(target, compare, value, status=None):
    """The index of an element for which it holds, or None."""
    return _index(_test_any(target, compare, value, status))
