#!/usr/bin/env python3
"""One request on stdin, one response on stdout: whatever goes wrong in between is an error response."""
import json
import sys

sys.dont_write_bytecode = True  # the plugin's folder need not be writable

from commands import answer  # noqa: E402
from failure import Failure, from_os_error  # noqa: E402


def respond(request):
    try:
        return answer(request)
    except Failure as failure:
        return error(failure.message, failure.retry)
    except OSError as os_error:
        failure = from_os_error(os_error)
        return error(failure.message, failure.retry)
    except MemoryError:
        return error("The machine is out of memory.", True)
    except Exception as bug:  # one response, never a traceback
        return error("The files plugin failed: %s: %s" % (type(bug).__name__, bug), False)


def error(message, retry):
    return {"status": "error", "error": message, "retry": retry, "logs": [{"level": "error", "message": message}]}


def main():
    try:
        request = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        response = error("The request on stdin is not JSON.", False)
    else:
        response = respond(request)
    # "replace": a name on disk need not be text, and half a surrogate pair is not either.
    sys.stdout.buffer.write(json.dumps(response, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
