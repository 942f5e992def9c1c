"""Requests and counters."""

from lateral.shmem.core import _address, _c, _int, _long, _pe, _ptr, _size, _state, initialized
from lateral.shmem.memory import _not_contiguous
from lateral.shmem.moves import _mover, _pair


class Request:
    """Tracks operations: those that name it are complete when it is. merge makes one of many. One that nobody holds any more waits, so that
    its arrays outlive its operations."""

    def __init__(self):
        self._handle, self._alive = _ptr(), []
        self._at = _address(self._handle)

    def wait(self):
        """Waits until the operations are complete, at the other PE too."""
        _c("x_request_wait", None, _ptr)(self._at)
        self._alive.clear()

    def test(self):
        """True where they are complete."""
        done = _c("x_request_test", bool, _ptr)(self._at)
        if done:
            self._alive.clear()
        return done

    def merge(self, *others):
        """Takes over what the others track; they are empty afterwards."""
        for other in others:
            _c("x_request_merge", None, _ptr, _size, _ptr)(self._at, 1, other._at)
            self._alive += other._alive
            other._alive = []

    def free(self):
        """Waits, and gives the request back."""
        _c("x_request_wait_free", None, _ptr)(self._at)
        self._alive.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free()

    def __del__(self):
        if self._handle and initialized():
            self.free()

    def _track(self, *arrays):
        self._alive += arrays
        return self._at


_put_nbe, _get_nbe = _mover("put_nbe", "", _ptr), _mover("get_nbe", "", _ptr)


def put_nbe(dest, source, pe, request=None):
    """A put that a request tracks: the one given, or a new one. Returns it. The request keeps both arrays alive."""
    request = request or Request()
    _put_nbe(dest, source, pe, None, request._track(dest, source))
    return request


def get_nbe(dest, source, pe, request=None):
    """A get that a request tracks: the one given, or a new one. Returns it."""
    request = request or Request()
    _get_nbe(dest, source, pe, None, request._track(dest, source))
    return request


class Counter:
    """Counts arrivals at this PE; every PE has it. Making and freeing are collective; `with shmem.Counter() as c:` frees it."""

    def __init__(self):
        self._handle = _ptr()
        _c("x_ct_create", None, _ptr)(_address(self._handle))

    def put(self, dest, source, pe):
        """A put; when its data has arrived there, that PE's counter goes up by 1."""
        to, at, size = _pair("Counter.put", dest, source, True) or _not_contiguous()
        _c("x_putmem_ct", None, _ptr, _ptr, _ptr, _size, _int)(self._handle.value, to, at, size, _pe(pe, "Counter.put"))

    def get(self, dest, source, pe):
        """A get; that PE's counter goes up by 1 when its data has been read."""
        to, at, size = _pair("Counter.get", dest, source, False) or _not_contiguous()
        _c("x_getmem_ct", None, _ptr, _ptr, _ptr, _size, _int)(self._handle.value, to, at, size, _pe(pe, "Counter.get"))

    def add(self, pe, weight=1):
        """Adds to that PE's counter."""
        _c("x_ct_add", None, _ptr, _long, _int)(self._handle.value, weight, _pe(pe, "Counter.add"))

    @property
    def value(self):
        """The value here."""
        return _c("x_ct_get", _long, _ptr)(self._handle.value)

    def wait(self, value):
        """Waits until the counter here is at least value; returns it."""
        return _c("x_ct_wait", _long, _ptr, _long)(self._handle.value, value)

    def test(self, value):
        """True where the counter here is at least value."""
        return _c("x_ct_test", bool, _ptr, _long)(self._handle.value, value)

    def consume(self, value):
        """Waits until it is at least value, and takes that off."""
        _c("x_ct_consume", None, _ptr, _long)(self._handle.value, value)

    def set(self, value):
        """Sets the counter here."""
        _c("x_ct_set", None, _ptr, _long)(self._handle.value, value)

    def free(self):
        """Gives it back. Collective."""
        _c("x_ct_free", None, _ptr)(_address(self._handle))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.free()
