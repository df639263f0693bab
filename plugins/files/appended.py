"""Which job appended where, so that repeating a job does not append twice.

The position is recorded before the file is written. When the job comes again and its text stands at that position, it
was appended; when not, the process died in between. A later append at the same position shows that the earlier one
did not happen, so its entry goes.
"""
import hashlib
import json

from confined import PRIVATE_PREFIX, opened_file, opened_folder, replace_file

RECORD = PRIVATE_PREFIX + b".json"
MOST_FILES = 100
MOST_JOBS = 50
LARGEST_RECORD = 1024 * 1024


def was_appended(call, place, before, content):
    for job, position in entries_of(read_record(place.tree), place):
        if call.job_id and job == short_hash(call.job_id):
            return before[position : position + len(content)] == content
    return False


def record_append(call, place, position):
    if not call.job_id:
        return
    record = read_record(place.tree)
    kept = [entry for entry in entries_of(record, place) if entry[1] < position]
    record.pop(key_of(place), None)
    record[key_of(place)] = (kept + [[short_hash(call.job_id), position]])[-MOST_JOBS:]
    latest = dict(list(record.items())[-MOST_FILES:])
    with opened_folder(place.tree, []) as root:
        replace_file(root, RECORD, json.dumps(latest).encode("utf-8"), call.temporary_name(RECORD))


def read_record(tree):
    """A record that cannot be read counts as empty."""
    try:
        with opened_folder(tree, []) as root, opened_file(root, RECORD) as file:
            record = json.loads(file.read(LARGEST_RECORD).decode("utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def entries_of(record, place):
    entries = record.get(key_of(place))
    return [entry for entry in entries if is_entry(entry)] if isinstance(entries, list) else []


def is_entry(value):
    return isinstance(value, list) and len(value) == 2 and isinstance(value[1], int) and value[1] >= 0


def key_of(place):
    return short_hash(place.shown)


def short_hash(text):
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
