"""Translation of the system's errors about files into those of `tf.errors`."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from byparts_tf_files import errors

_KINDS: dict[int, type[errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EINVAL: errors.InvalidArgumentError,
}


@contextmanager
def as_tensorflow_errors(path: str) -> Iterator[None]:
    """Raise the error of TensorFlow's kind for each of the system's in the body.

    Raises:
        OpError: of the kind; the message has the path and the system's words.
    """
    try:
        yield
    except OSError as error:
        kind = _KINDS.get(error.errno or 0, errors.UnknownError)
        raise kind(None, None, f"{path}; {error.strerror or error}") from error
