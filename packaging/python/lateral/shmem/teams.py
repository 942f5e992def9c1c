"""Order, locks, teams with their collectives, contexts."""

from lateral.shmem.core import _NAMES, _address, _c, _check, _int, _long, _pe, _ptr, _size, _type
from lateral.shmem.memory import _symmetric, _where, free, zeros


def fence():
    """Puts to a PE before it arrive before those behind it."""
    _c("fence", None)()


def quiet():
    """Completes all operations of this PE that contexts and requests do not track."""
    _c("quiet", None)()


def barrier_all():
    """quiet, and no PE leaves before all have come."""
    _c("barrier_all", None)()


def sync_all():
    """No PE leaves before all have come."""
    _c("sync_all", None)()


class Lock:
    """A lock of the whole job: `with lock:`. Its making and freeing are collective."""

    def __init__(self):
        self._word = zeros(1, "i8")

    def __enter__(self):
        _c("set_lock", None, _ptr)(_where(self._word))
        return self

    def __exit__(self, *_):
        _c("clear_lock", None, _ptr)(_where(self._word))

    def test(self):
        """Takes the lock where it is free; True when it has."""
        return _c("test_lock", _int, _ptr)(_where(self._word)) == 0

    release = __exit__

    def free(self):
        """Gives its memory back. Collective."""
        free(self._word)


_REDUCE = {op: op + "_reduce" for op in ("and", "or", "xor", "max", "min", "sum", "prod")}
_folds = {name: {} for name in (*_REDUCE.values(), "sum_inscan", "sum_exscan")}       # the functions of each, by the element's type
_MEMS = {name: _c(name + "mem", _int, _ptr, _ptr, _ptr, _size, *more)
         for name, more in (("broadcast", (_int,)), ("fcollect", ()), ("collect", ()), ("alltoall", ()))}
_n_pes = _c("team_n_pes", _int, _ptr)
_ANY_TYPE = frozenset(_NAMES.values())


class _Scoped:
    """Destroyed at the end of a with block, unless the block has done so."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.handle:
            self.destroy()


class Team(_Scoped):
    """PEs that do collectives together. WORLD has all, SHARED those that share memory with this one."""

    def __init__(self, handle):
        self.handle = handle

    def __bool__(self):
        return bool(self.handle)

    def __eq__(self, other):
        return isinstance(other, Team) and self.handle == other.handle

    __hash__ = None

    def my_pe(self):
        """This PE's number in the team; -1 where it is no member."""
        return _c("team_my_pe", _int, _ptr)(self.handle)

    def n_pes(self):
        """The number of members; -1 where this PE is none."""
        return _n_pes(self.handle)

    def translate(self, pe, to):
        """The number in team `to` of the member `pe`; -1 where it is not in it."""
        return _c("team_translate_pe", _int, _ptr, _int, _ptr)(self.handle, pe, to.handle)

    def split_strided(self, start, stride, size):
        """The team of size members from start on, each stride further. Collective; others get a team that is False."""
        made = _ptr()
        _check(_c("team_split_strided", _int, _ptr, _int, _int, _int, _ptr, _long, _ptr)(
            self.handle, start, stride, size, None, 0, _address(made)), "split_strided")
        return Team(made.value)

    def split_2d(self, xrange):
        """(row, column): the teams of this PE in a grid of rows of xrange members. Collective."""
        row, column = _ptr(), _ptr()
        _check(_c("team_split_2d", _int, _ptr, _int, _ptr, _long, _ptr, _ptr, _long, _ptr)(
            self.handle, xrange, None, 0, _address(row), None, 0, _address(column)), "split_2d")
        return Team(row.value), Team(column.value)

    def sync(self):
        """No member leaves before all have come."""
        _check(_c("team_sync", _int, _ptr)(self.handle), "sync")

    def context(self, options=0):
        """A context of this team. `with team.context() as ctx:` destroys it at the end."""
        return Context(self, options)

    def destroy(self):
        """Collective over the team; its contexts go too."""
        _c("team_destroy", None, _ptr)(self.handle)
        self.handle = None

    def _collective(self, name, dest, source, units, parts=1, root=None):
        """Calls NAMEmem; units: how many times as large as source dest must be; parts: of source, one for each member."""
        to = dest.size and _symmetric(dest, name)
        at = source.size and _symmetric(source, name, "source")
        if dest.dtype is not source.dtype and dest.dtype != source.dtype:
            raise TypeError(f"{name}: dest has elements of {dest.dtype}, source of {source.dtype}")
        if dest.nbytes < source.nbytes * units:
            raise ValueError(f"{name}: dest has {dest.size} elements, {source.size * units} are needed")
        share = source.nbytes // parts
        if root is None:
            status = _MEMS[name](self.handle, to, at, share)
        else:
            status = _MEMS[name](self.handle, to, at, share, root if root == 0 else _pe(root, name, self.n_pes()))
        if status:
            _check(status, name)

    def broadcast(self, dest, source, root=0):
        """dest at every member becomes source of the root."""
        self._collective("broadcast", dest, source, 1, 1, root)

    def fcollect(self, dest, source):
        """dest becomes the members' sources, all of one size, one behind the other."""
        self._collective("fcollect", dest, source, self.n_pes())

    def collect(self, dest, source):
        """dest becomes the members' sources, of any sizes, one behind the other."""
        self._collective("collect", dest, source, 1)

    def alltoall(self, dest, source):
        """The k-th part of source goes to member k; dest gets the parts for this one."""
        members = self.n_pes()
        if source.size % members:
            raise ValueError(f"alltoall: {source.size} elements are no multiple of {members} members")
        self._collective("alltoall", dest, source, 1, members)

    def reduce(self, dest, source, op="sum"):
        """dest becomes the element-wise and, or, xor, max, min, sum or prod of the members' sources."""
        self._fold(_REDUCE.get(op) or _no_op(op), dest, source)

    def scan(self, dest, source, inclusive=True):
        """dest becomes the sum of the sources of the members up to this one, itself included or not."""
        self._fold("sum_inscan" if inclusive else "sum_exscan", dest, source)

    def _fold(self, name, dest, source):
        dtype = source.dtype
        function = _folds[name].get(dtype)
        if function is None:
            kind = _type(source, _ANY_TYPE, name)
            try:
                function = _folds[name][dtype] = _c(f"{kind}_{name}", _int, _ptr, _ptr, _ptr, _size)
            except AttributeError:
                raise TypeError(f"{name}: not for elements of {dtype}") from None
        if (dest.dtype is not dtype and dest.dtype != dtype) or dest.size < source.size:
            raise ValueError(f"{name}: dest has {dest.size} elements of {dest.dtype}, source {source.size} of {dtype}")
        status = function(self.handle, _symmetric(dest, name), _symmetric(source, name, "source"), source.size)
        if status:
            _check(status, name)


def _no_op(op):
    raise ValueError(f"reduce: no operation {op!r}; there are {', '.join(_REDUCE)}")


WORLD, SHARED = Team(1), Team(2)
broadcast, fcollect, collect, alltoall, reduce, scan = (
    WORLD.broadcast, WORLD.fcollect, WORLD.collect, WORLD.alltoall, WORLD.reduce, WORLD.scan)


class Context(_Scoped):
    """Operations that are ordered and completed apart from others: the argument ctx of put, get, p, g and atomics."""

    def __init__(self, team=WORLD, options=0):
        made = _ptr()
        _check(_c("team_create_ctx", _int, _ptr, _long, _ptr)(team.handle, options, _address(made)), "context")
        self.handle, self.pes = made.value, team.n_pes()

    def fence(self):
        """Orders the context's puts."""
        _c("ctx_fence", None, _ptr)(self.handle)

    def quiet(self):
        """Completes the context's operations."""
        _c("ctx_quiet", None, _ptr)(self.handle)

    def destroy(self):
        """Completes its operations and gives it back."""
        _c("ctx_destroy", None, _ptr)(self.handle)
        self.handle = None
