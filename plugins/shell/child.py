"""Runs one program to its end.

It stays in the plugin's process group, so that the gateway ends both together, and with them whatever the program has
started. Only the program itself is waited for, not processes that it leaves behind with its output still open.
"""
import errno
import os
import selectors
import subprocess
import threading
import time

from failure import Failure

PASSING = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
CHUNK = 65_536
# As much as a pipe can hold: what the program printed before it ended, and no more of what others print into it.
MOST_AFTER_THE_END = 1024 * 1024


class Output:
    """The beginning of what a program prints; the rest is read and dropped, so that it does not block."""

    def __init__(self, limit):
        self.limit = limit
        self.content = b""
        self.is_clipped = False

    def take(self, chunk):
        room = self.limit - len(self.content)
        self.content += chunk[:room]
        self.is_clipped = self.is_clipped or len(chunk) > room

    def text(self):
        return self.content.decode("utf-8", "replace").replace("\0", "\ufffd")


class Child:
    def __init__(self, limit):
        self.stdout = Output(limit)
        self.stderr = Output(limit)
        self.exit_code = 0


def run_child(program, argv, stdin, cwd, environment, max_output_bytes, timeout_ms):
    try:
        process = subprocess.Popen(
            [argument.encode("utf-8") for argument in argv],
            executable=program,
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
    except OSError as error:
        raise Failure("%s could not be started: %s." % (argv[0], os.strerror(error.errno)), error.errno in PASSING)
    child = Child(max_output_bytes)
    if not exchange(process, child, stdin, time.monotonic() + timeout_ms / 1000):
        raise Failure("%s did not end within %d ms." % (argv[0], timeout_ms))
    child.exit_code = process.returncode
    return child


def exchange(process, child, stdin, deadline):
    """Writes and reads until the program ends; False when it had to be killed."""
    for stream in (process.stdin, process.stdout, process.stderr):
        os.set_blocking(stream.fileno(), False)
    ended, end = os.pipe()
    threading.Thread(target=announce_end, args=(process, end), daemon=True).start()
    with selectors.DefaultSelector() as selector:
        selector.register(ended, selectors.EVENT_READ, "end")
        selector.register(process.stdin, selectors.EVENT_WRITE, memoryview(stdin))
        selector.register(process.stdout, selectors.EVENT_READ, child.stdout)
        selector.register(process.stderr, selectors.EVENT_READ, child.stderr)
        while True:
            left = deadline - time.monotonic()
            ready = selector.select(left) if left > 0 else []
            if any(key.data == "end" for key, _ in ready):
                break
            if left <= 0:
                process.kill()
                return False
            for key, _ in ready:
                serve(selector, key)
        drain(process.stdout, child.stdout)
        drain(process.stderr, child.stderr)
    return True


def announce_end(process, end):
    process.wait()
    os.write(end, b".")


def serve(selector, key):
    if isinstance(key.data, Output):
        chunk = read_now(key.fileobj)
        if chunk:
            key.data.take(chunk)
        elif chunk is not None:
            selector.unregister(key.fileobj)
        return
    rest = write_now(key.fileobj, key.data)
    if rest:
        selector.modify(key.fileobj, selectors.EVENT_WRITE, rest)
    else:
        selector.unregister(key.fileobj)
        key.fileobj.close()


def drain(stream, output):
    for _ in range(MOST_AFTER_THE_END // CHUNK):
        chunk = read_now(stream)
        if not chunk:
            return
        output.take(chunk)


def read_now(stream):
    """None when there is nothing to read yet, empty at the end."""
    try:
        return os.read(stream.fileno(), CHUNK)
    except BlockingIOError:
        return None


def write_now(stream, content):
    """What is left to write; nothing when the program reads no more."""
    try:
        return content[os.write(stream.fileno(), content[:CHUNK]) :] if content else content
    except BlockingIOError:
        return content
    except BrokenPipeError:
        return content[:0]
