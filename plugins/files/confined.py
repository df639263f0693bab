"""Paths that cannot leave the folders they are confined to.

A path is resolved first, symbolic links included, and has to end inside one of the folders. The file is then opened
from that folder downwards, name by name, never following a link: the resolved path has none, so that one which
appears in between is refused.
"""
import errno
import fcntl
import os
import stat
from contextlib import contextmanager

from failure import Failure

LONGEST_PATH = 4096
MOST_NAMES = 64
# Files that the plugin keeps for itself: unfinished writes, and what was appended.
PRIVATE_PREFIX = b".holdfast-files"

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting: opening a named pipe would wait for its other end.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Tree:
    """A folder that paths are confined to."""

    def __init__(self, path, setting, is_workspace):
        if not isinstance(path, str) or not os.path.isabs(path):
            raise Failure("%s is not an absolute path." % setting)
        self.real = os.path.realpath(encode(path))
        self.is_workspace = is_workspace


class Place:
    """A path inside a tree, as the names that lead there; none for the tree itself."""

    def __init__(self, tree, names):
        self.tree = tree
        self.names = names

    @property
    def shown(self):
        """Relative to the workspace, absolute in other folders."""
        inner = b"/".join(self.names)
        path = inner or b"." if self.tree.is_workspace else os.path.join(self.tree.real, inner)
        return path.decode("utf-8", "replace")


def find_place(path, trees):
    """Relative paths start in the first tree."""
    if not isinstance(path, str) or path == "":
        raise Failure("The path is missing.")
    target = os.path.realpath(os.path.join(trees[0].real, encode(path)))
    for tree in trees:
        if target == tree.real:
            return Place(tree, [])
        prefix = tree.real.rstrip(b"/") + b"/"
        if target.startswith(prefix):
            return Place(tree, checked(target[len(prefix) :].split(b"/")))
    raise Failure("The path %s leads out of the workspace and of config.roots." % path)


def encode(path):
    if len(path) > LONGEST_PATH:
        raise Failure("The path is longer than %d characters." % LONGEST_PATH)
    if "\0" in path:
        raise Failure("The path contains a NUL character.")
    try:
        return path.encode("utf-8")
    except UnicodeEncodeError:
        raise Failure("The path is not valid text.")


def checked(names):
    if len(names) > MOST_NAMES:
        raise Failure("The path has more than %d folders." % MOST_NAMES)
    if any(is_private(name) for name in names):
        raise Failure("Files called %s* belong to the plugin." % PRIVATE_PREFIX.decode())
    return names


def is_private(name):
    return name.lower().startswith(PRIVATE_PREFIX)


@contextmanager
def opened_folder(tree, names, make=False):
    """The folder's file descriptor. `make` creates folders that are missing."""
    folder = os.open(tree.real, FOLDER)
    try:
        for name in names:
            inner = open_inner(folder, name, make)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def open_inner(folder, name, make):
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    except FileExistsError:
        pass
    return os.open(name, FOLDER, dir_fd=folder)


@contextmanager
def locked(tree):
    """One writer at a time in this tree, across processes, where the file system has locks for folders."""
    folder = os.open(tree.real, FOLDER)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL):
                raise
        yield
    finally:
        os.close(folder)


def status_of(folder, name):
    """What the name stands for, links not followed; None when there is nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextmanager
def opened_file(folder, name):
    """A regular file, for reading."""
    descriptor = os.open(name, READ, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Failure("%s is not a regular file." % name.decode("utf-8", "replace"))
        yield file


def replace_file(folder, name, content, temporary):
    """Complete or not at all. A leftover of the same temporary name is from an earlier attempt."""
    present = status_of(folder, name)
    if present is not None and not stat.S_ISREG(present.st_mode):
        raise Failure("%s is not a regular file." % name.decode("utf-8", "replace"))
    remove(folder, temporary)
    descriptor = os.open(temporary, CREATE, 0o644, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if present is not None:
                os.fchmod(descriptor, stat.S_IMODE(present.st_mode) & 0o777)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        remove(folder, temporary)
        raise
    os.fsync(folder)


def remove(folder, name):
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
