"""The plugin's commands."""
import base64
import binascii
import hashlib
import heapq
import os
import re
import stat
import sys
from datetime import datetime, timezone

from appended import record_append, was_appended
from confined import (
    PRIVATE_PREFIX,
    Tree,
    find_place,
    is_private,
    locked,
    open_inner,
    opened_file,
    opened_folder,
    replace_file,
    status_of,
)
from failure import Failure

MIB = 1024 * 1024
# The run's own files: the agent keeps its plan and its memory in them.
KEPT_BY_THE_AGENT = {b"context.md", b"memory.md", b"plan.md", b"trace.jsonl", b"decisions.md", b"skills.md"}
DEEPEST_LISTING = 16


def answer(request):
    if not isinstance(request, dict):
        raise Failure("The request on stdin is not a JSON object.")
    command = request.get("command")
    if not isinstance(command, str) or command not in COMMANDS:
        raise Failure("The files plugin has no command %.100r." % (command,))
    return COMMANDS[command](Call(request))


class Call:
    """A request, with its configuration checked."""

    def __init__(self, request):
        self.config = fields(request.get("config"))
        self.context = fields(request.get("context"))
        self.payload = payload_of(request)
        self.job_id = request.get("job_id") if isinstance(request.get("job_id"), str) else ""
        self.workspace = request.get("workspace_dir") or None
        self.max_bytes = self.limit("max_bytes", 8 * MIB)
        # A byte can take six in JSON, and a response is at most 10 MiB.
        self.max_read_bytes = min(self.limit("max_read_bytes", MIB // 4), MIB)
        self.max_entries = min(self.limit("max_entries", 1000), 10_000)
        self.trees = self.read_trees()

    def limit(self, key, preset):
        value = self.config.get(key)
        if value is None:
            return preset
        if not is_integer(value) or value < 1:
            raise Failure("config.%s is a whole number above 0." % key)
        return value

    def read_trees(self):
        roots = self.config.get("roots")
        if roots is None:
            roots = []
        if not isinstance(roots, list):
            raise Failure("config.roots is a list of absolute paths.")
        workspace = [] if self.workspace is None else [Tree(self.workspace, "workspace_dir", True)]
        return workspace + [Tree(root, "config.roots: %r" % (root,), False) for root in roots]

    def first(self, *keys):
        """The first of these keys that the payload has."""
        return next((self.payload[key] for key in keys if self.payload.get(key) is not None), None)

    def place(self, path):
        if not self.trees:
            raise Failure("There is no workspace, and config.roots names no folder.")
        return find_place(path, self.trees)

    def place_to_write(self, path):
        place = self.place(path)
        if not place.names:
            raise Failure("The path names a folder.")
        if place.tree.is_workspace and len(place.names) == 1 and place.names[0].lower() in KEPT_BY_THE_AGENT:
            raise Failure("%s is kept by the agent itself. Write to artifacts/." % place.shown)
        return place

    def temporary_name(self, name):
        key = hashlib.sha256(name + b"\0" + self.job_id.encode("utf-8", "replace")).hexdigest()[:16]
        return PRIVATE_PREFIX + b"-" + key.encode() + b".tmp"


def handle(call):
    """Stores a text. A bare file name goes to artifacts/; text that is missing is the text of another file."""
    path = call.first("output_path", "path")
    if call.workspace and path is None:
        path = default_name(call)
    if call.workspace and isinstance(path, str) and "/" not in path and path not in ("", ".", ".."):
        path = "artifacts/" + path
    return written(call, call.place_to_write(path), composed(call))


def composed(call):
    content = content_of(call)
    if content is not None:
        return content
    if call.payload.get("prompt") is not None:
        raise Failure("The files plugin writes text and generates none: send the text itself in `text`.")
    source = call.first("input_path")
    if source is None:
        raise Failure("The payload has no text.")
    return whole_file(call, call.place(source))


def write(call):
    place = call.place_to_write(call.first("path", "output_path"))
    return written(call, place, required_content(call))


def written(call, place, content):
    check_size(call, len(content))
    *folders, name = place.names
    with locked(place.tree), opened_folder(place.tree, folders, make=True) as folder:
        changed = not holds(folder, name, content)
        if changed:
            replace_file(folder, name, content, call.temporary_name(name))
    payload = written_payload(place, len(content), changed)
    return ok("Wrote %d bytes to %s." % (len(content), place.shown), "files.written", payload)


def append(call):
    place = call.place_to_write(call.first("path", "output_path"))
    content = required_content(call)
    *folders, name = place.names
    with locked(place.tree), opened_folder(place.tree, folders, make=True) as folder:
        before = b"" if status_of(folder, name) is None else read_up_to(folder, name, call.max_bytes)
        changed = not was_appended(call, place, before, content)
        after = before + content if changed else before
        check_size(call, len(after))
        if changed:
            record_append(call, place, len(before))
            replace_file(folder, name, after, call.temporary_name(name))
    payload = written_payload(place, len(after), changed)
    return ok("Appended %d bytes to %s." % (len(content), place.shown), "files.appended", payload)


def read(call):
    place = call.place(call.first("path", "input_path", "artifact_path"))
    offset = whole_number(call, "offset", 0)
    limit = min(whole_number(call, "limit", call.max_read_bytes), call.max_read_bytes)
    *folders, name = named(place)
    with opened_folder(place.tree, folders) as folder, opened_file(folder, name) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(min(offset, size))
        content = file.read(limit)
    text, used = as_text(content, is_clipped=offset + len(content) < size)
    payload = {"path": place.shown, "bytes": size, "offset": offset}
    if text is None:
        payload["content_base64"] = base64.b64encode(content).decode("ascii")
    else:
        payload["content"] = text
    if offset + used < size:
        payload["next_offset"] = offset + used
    return ok("Read %d of %d bytes of %s." % (used, size, place.shown), "files.read", payload)


def list_folder(call):
    path = call.first("path")
    place = call.place("." if path is None else path)
    recursive = call.payload.get("recursive") is True
    entries = []
    with opened_folder(place.tree, place.names) as folder:
        collect(folder, b"", entries, call.max_entries + 1, DEEPEST_LISTING if recursive else 1)
    payload = {
        "path": place.shown,
        "entries": entries[: call.max_entries],
        "clipped": len(entries) > call.max_entries,
    }
    return ok("%s has %d entries." % (place.shown, len(payload["entries"])), "files.listed", payload)


def stat_path(call):
    place = call.place(call.first("path", "input_path", "artifact_path"))
    payload = {"path": place.shown, "exists": False}
    try:
        if place.names:
            *folders, name = place.names
            with opened_folder(place.tree, folders) as folder:
                status = status_of(folder, name)
        else:
            status = os.stat(place.tree.real)
    except (FileNotFoundError, NotADirectoryError):
        status = None
    if status is not None:
        payload.update(exists=True, **described(status))
    result = "%s exists." % place.shown if payload["exists"] else "%s does not exist." % place.shown
    return ok(result, "files.stat", payload)


def health(call):
    for tree in call.trees:
        if not os.path.isdir(tree.real):
            raise Failure("%s is not a folder." % tree.real.decode("utf-8", "replace"))
    roots = sum(1 for tree in call.trees if not tree.is_workspace)
    python = "%d.%d" % sys.version_info[:2]
    return {"status": "ok", "result": "files is ready on Python %s, %d roots." % (python, roots), "logs": []}


COMMANDS = {
    "handle": handle,
    "write": write,
    "append": append,
    "read": read,
    "list": list_folder,
    "stat": stat_path,
    "health": health,
}


def ok(result, event_type, payload):
    return {
        "status": "ok",
        "result": result,
        "events": [{"type": event_type, "payload": payload}],
        "logs": [{"level": "info", "message": result}],
    }


def written_payload(place, size, changed):
    payload = {"path": place.shown, "bytes": size, "changed": changed}
    if place.tree.is_workspace:
        payload["artifact_path"] = place.shown
    return payload


def payload_of(request):
    """The event's payload; for other commands than `handle` the payload of the job."""
    event = fields(request.get("event"))
    if isinstance(event.get("payload"), dict):
        return event["payload"]
    payload = fields(request.get("payload"))
    if isinstance(payload.get("type"), str) and isinstance(payload.get("payload"), dict):
        return payload["payload"]
    return payload


def content_of(call):
    """The bytes to write; None when the payload has no content."""
    text = call.first("text", "content")
    encoded = call.payload.get("content_base64")
    if text is None and encoded is None:
        return None
    if text is None:
        try:
            return base64.b64decode(encoded, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise Failure("content_base64 is not base64.")
    if not isinstance(text, str):
        raise Failure("The text is not a string.")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Failure("The text contains half a surrogate pair.")


def required_content(call):
    content = content_of(call)
    if content is None:
        raise Failure("The payload has no text.")
    return content


def check_size(call, size):
    if size > call.max_bytes:
        raise Failure("The file would have %d bytes; config.max_bytes is %d." % (size, call.max_bytes))


def holds(folder, name, content):
    status = status_of(folder, name)
    if status is None or not stat.S_ISREG(status.st_mode) or status.st_size != len(content):
        return False
    with opened_file(folder, name) as file:
        return file.read(len(content) + 1) == content


def whole_file(call, place):
    *folders, name = named(place)
    with opened_folder(place.tree, folders) as folder:
        return read_up_to(folder, name, call.max_bytes)


def read_up_to(folder, name, most):
    with opened_file(folder, name) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise Failure("%s is larger than config.max_bytes (%d)." % (name.decode("utf-8", "replace"), most))
    return content


def named(place):
    if not place.names:
        raise Failure("The path names a folder.")
    return place.names


def as_text(content, is_clipped):
    """The text and how many bytes it takes: a character that was cut off is left to the next part. None for bytes."""
    for cut in range(4 if is_clipped else 1):
        part = content[: len(content) - cut]
        try:
            text = part.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if "\0" not in text and (part or not content):
            return text, len(part)
        break
    return None, len(content)


def collect(folder, prefix, entries, most, depth):
    with os.scandir(folder) as scan:
        found = heapq.nsmallest(most, ((os.fsencode(entry.name), entry) for entry in scan), key=lambda pair: pair[0])
    for name, entry in found:
        if is_private(name):
            continue
        if len(entries) >= most:
            return
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        path = prefix + name
        entries.append(dict(path=path.decode("utf-8", "replace"), **described(status)))
        if depth > 1 and stat.S_ISDIR(status.st_mode):
            inner = open_inner(folder, name, make=False)
            try:
                collect(inner, path + b"/", entries, most, depth - 1)
            finally:
                os.close(inner)


def described(status):
    modified = datetime.fromtimestamp(int(status.st_mtime), timezone.utc).isoformat().replace("+00:00", "Z")
    return {"type": type_of(status.st_mode), "bytes": status.st_size, "modified": modified}


def type_of(mode):
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def default_name(call):
    tool = call.context.get("tool")
    step = call.context.get("step")
    safe = re.sub(r"[^A-Za-z0-9_-]", "", tool)[:64] if isinstance(tool, str) else ""
    return "%s-%02d.md" % (safe or "text", step if is_integer(step) and step >= 0 else 0)


def whole_number(call, key, preset):
    value = call.payload.get(key)
    if value is None:
        return preset
    if not is_integer(value) or value < 0:
        raise Failure("%s is a whole number from 0." % key)
    return value


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def fields(value):
    return value if isinstance(value, dict) else {}
