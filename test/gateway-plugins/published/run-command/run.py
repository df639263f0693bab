#!/usr/bin/env python3
"""Runs a configured command in the workspace; the payload is its environment."""
import json
import os
import subprocess
import sys

request = json.load(sys.stdin)
config, payload = request["config"], request["event"]["payload"]
named = {f"DUCTILE_PAYLOAD_{key.upper()}": str(value) for key, value in payload.items()}
ran = subprocess.run(
    config["command"], shell=True, capture_output=True, text=True, cwd=request.get("workspace_dir"), env={**os.environ, **named}
)
if ran.returncode == 0:
    text = ran.stdout.strip()
    event = {"type": config.get("event_type", "command.completed"), "payload": {"content": text, "result": text}}
    json.dump({"status": "ok", "result": f"ran {len(text)} characters", "events": [event]}, sys.stdout)
else:
    json.dump({"status": "error", "error": ran.stderr or f"exit {ran.returncode}", "retry": False}, sys.stdout)
