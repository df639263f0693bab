"""What can go wrong: a sentence, and whether trying again could help."""
import errno
import os

PASSING = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.EBUSY,
    errno.ESTALE,
    errno.ETIMEDOUT,
}


class Failure(Exception):
    def __init__(self, message, retry=False):
        super().__init__(message)
        self.message = message
        self.retry = retry


def from_os_error(error):
    name = error.filename
    if isinstance(name, bytes):
        name = name.decode("utf-8", "replace")
    reason = os.strerror(error.errno) if error.errno else str(error)
    message = "%s: %s." % (name, reason) if isinstance(name, str) else "%s." % reason
    return Failure(message, error.errno in PASSING)
