#!/usr/bin/env python3
"""Says what a file holds on every poll, under a key that leaves the same content out."""
import hashlib
import json
import sys

request = json.load(sys.stdin)
path = request["config"]["path"]
with open(path, "rb") as file:
    digest = hashlib.sha256(file.read()).hexdigest()
event = {"type": "file.seen", "payload": {"path": path, "digest": digest}, "dedupe_key": f"watch:{path}:{digest}"}
print(json.dumps({"status": "ok", "result": digest, "events": [event], "state_updates": {"digest": digest}}))
