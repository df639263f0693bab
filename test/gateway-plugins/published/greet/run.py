#!/usr/bin/env python3
"""Greets on every poll; its answer is a snapshot of all that it knows."""
import json
import sys

request = json.load(sys.stdin)
if request["command"] == "health":
    print('{"status": "ok", "result": "healthy", "state_updates": {"checked": true}}')
    sys.exit(0)
before = request["state"]
count = before.get("count", 0) + 1
result = f"Hello {request['config'].get('name', 'world')}, after {json.dumps(before, sort_keys=True)}"
snapshot = {"count": count, f"greeting {count}": True}
print(json.dumps({"status": "ok", "result": result, "state_updates": snapshot, "logs": [{"level": "info", "message": result}]}))
