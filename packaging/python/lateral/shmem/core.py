"""The library, bound by ctypes; types of elements; the job."""
import contextlib
import ctypes
import operator
import sys

import lateral

try:
    import numpy as np
except ImportError as missing:
    raise ImportError("lateral.shmem needs NumPy: pip install numpy") from missing

EQ, NE, LT, LE, GT, GE = range(1, 7)
SIGNAL_SET, SIGNAL_ADD = 1, 2
THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE = range(4)
CTX_SERIALIZED, CTX_PRIVATE, CTX_NOSTORE = 1, 2, 4


class ShmemError(RuntimeError):
    """A call of the library returned a status that is not 0."""


_lib = ctypes.CDLL(None)
if not hasattr(_lib, "uccs_init"):      # a layer that oshrun --check or --stats has loaded brings the library, and stands before it
    _lib = ctypes.CDLL(str(lateral.library()))
_int, _long, _u64, _ptr = ctypes.c_int, ctypes.c_long, ctypes.c_uint64, ctypes.c_void_p
_size = _ptr                            # an argument that this module has counted itself: as wide, and ctypes converts it fastest
_address = ctypes.addressof
_bound = {}
# _field[id(a) >> 3] is the word behind the head of an object. An ndarray's is the address of its elements, where extensions in C read it, too.
# The view reaches over all addresses and touches none by itself; it takes a quarter of the time of a ctypes object made for the place.
_field = memoryview((ctypes.c_char * (1 << 56)).from_address(object.__basicsize__)).toreadonly().cast("B").cast("N")

if sys.implementation.name != "cpython":                # elsewhere an id is no address
    raise ImportError("lateral.shmem needs CPython")


class _Int:
    """An argument of type int. ctypes passes an int of Python so without more, where c_int makes an object for it; NumPy's pass, too."""
    from_param = operator.index


def _c(name, result, *arguments):
    """The C function shmem_NAME (or NAME as it is with an x_ in front). No thread sees one whose types are not set yet."""
    function = _bound.get(name)
    if function is None:
        function = _lib["shmem" + (name if name.startswith("x_") else "_" + name)]
        function.restype, function.argtypes = result, [_Int if kind is _int else kind for kind in arguments]
        function = _bound.setdefault(name, function)
    return function


_NAMES = {"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
          "f4": "float", "f8": "double", "f16": "longdouble", "c8": "complexf", "c16": "complexd"}
_VALUES = {"int32": ctypes.c_int32, "int64": ctypes.c_int64, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
           "float": ctypes.c_float, "double": ctypes.c_double, "int16": ctypes.c_int16, "uint16": ctypes.c_uint16}
_ATOMIC = frozenset(("int32", "int64", "uint32", "uint64"))
_EXTENDED = _ATOMIC | {"float", "double"}
_BITS = frozenset(("int32", "int64", "uint32", "uint64"))
_by_dtype = {}


def _type(array, allowed, call):
    """The C name of an array's element type, which the call must have."""
    name = _by_dtype.get(array.dtype)
    if name is None:
        dtype = array.dtype
        name = _NAMES.get(dtype.kind + str(dtype.itemsize)) if dtype.isnative else None
        if name is None:
            raise TypeError(f"{call}: no OpenSHMEM type for elements of {dtype}")
        _by_dtype[dtype] = name
    if name not in allowed:
        raise TypeError(f"{call}: not for elements of {array.dtype}; it takes {', '.join(sorted(allowed))}")
    return name


def _check(status, call):
    if status:
        raise ShmemError(f"{call} failed with status {status}")


class _State:
    pes = 0
    me = -1
    heap = (), ()                   # their begins in order, and their ends; replaced as one, since other threads search them


_state, _blocks = _State(), {}         # _blocks: the address of each block of the heap, and its size


def init(threads=THREAD_MULTIPLE):
    """Joins the job; all PEs call it. Returns the thread level that the library gives. A second call does nothing."""
    got = _int()
    if not initialized():
        _check(_c("init_thread", _int, _int, _ptr)(threads, _address(got)), "init")
    else:
        _c("query_thread", None, _ptr)(_address(got))
    _state.me, _state.pes = _c("my_pe", _int)(), _c("n_pes", _int)()
    return got.value


def finalize():
    """Leaves the job; all PEs call it. Symmetric arrays must not be used afterwards."""
    _c("finalize", None)()
    _state.pes, _state.me = 0, -1
    _blocks.clear()
    _state.heap = (), ()


@contextlib.contextmanager
def job(threads=THREAD_MULTIPLE):
    """init, the block, finalize. An exception in the block ends the whole job with status 1, after its traceback."""
    init(threads)
    try:
        yield
    except SystemExit as end:
        if end.code not in (None, 0):
            _abort(end.code if isinstance(end.code, int) else 1, end.code)
        finalize()
        raise
    except BaseException:
        import traceback
        traceback.print_exc()
        _abort(1)
    finalize()


def _abort(status, text=None):
    if isinstance(text, str):
        print(text, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    global_exit(status)


def initialized():
    """True between init and finalize."""
    value = _int()
    _c("query_initialized", None, _ptr)(_address(value))
    return bool(value.value)


def global_exit(status):
    """Ends the whole job with this status."""
    _c("global_exit", None, _int)(status)


def my_pe():
    """The number of this PE."""
    return _state.me


def n_pes():
    """The number of PEs."""
    return _state.pes


def version():
    """(major, minor) of the OpenSHMEM standard that the library has."""
    major, minor = _int(), _int()
    _c("info_get_version", None, _ptr, _ptr)(_address(major), _address(minor))
    return major.value, minor.value


def _pe(pe, call, pes=None):
    if not 0 <= pe < (_state.pes if pes is None else pes):
        if not _state.pes:
            raise ValueError(f"{call}: shmem.init() has not been called")
        raise IndexError(f"{call}: no PE {pe}; there are {_state.pes if pes is None else pes}")
    return pe
