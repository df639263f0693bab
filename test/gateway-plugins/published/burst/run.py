#!/usr/bin/env python3
"""Custom commands; `state` emits an event for each of its own steps."""
import json
import sys

request = json.load(sys.stdin)
command, given = request["command"], request.get("payload") or {}
if command == "state":
    steps = range(given.get("total", 3))
    events = [{"type": "burst.progress", "payload": {"step": step, "total": len(steps)}} for step in steps]
    print(json.dumps({"status": "ok", "result": f"{len(steps)} steps", "events": events}))
elif command == "cpu":
    print(json.dumps({"status": "ok", "result": f"{sum(range(given['count']))}", "took": {"event": "event" in request}}))
else:
    print(json.dumps({"status": "error", "error": f"no use for {command}", "retry": False}))
