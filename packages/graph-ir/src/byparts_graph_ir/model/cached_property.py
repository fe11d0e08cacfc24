"""`cached_property` without a lock.

Before Python 3.12, `functools.cached_property` holds one lock for all instances of a class while it
computes.  A process that forks while another thread computes leaves that lock held for ever in the
child.  Here two threads may compute the same value at once; both get the value that came first.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801  # it stands in for that of the standard library
        """A method that is computed when first read, and is an attribute of the instance then."""

        def __init__(self, compute: object) -> None:
            self._compute, self._name = compute, compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, instance: object, owner: type | None = None) -> object:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self._name, self._compute(instance))


__all__ = ["cached_property"]
