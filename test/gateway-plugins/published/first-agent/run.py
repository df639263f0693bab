#!/usr/bin/env python3
"""An agent in the shape of RFC-103's own: it fetches a page, has it judged, and is done. It answers without a result."""
import json
import sys
from datetime import datetime, timezone

NOW = datetime.now(timezone.utc).isoformat()


def answer(events=(), logs=(), **more):
    print(json.dumps({"status": "ok", "events": list(events), "logs": list(logs), **more}))


def ask(run_id, run, tool, payload):
    run.update(pending_tool=tool, pending_step=run["step"], pending_since=NOW, last_tool_command="handle", updated_at=NOW)
    reserved = {"run_id": run_id, "step": run["step"], "tool": tool, "tool_command": "handle", "requested_at": NOW}
    return {
        "type": f"agentic.tool_request.{tool}",
        "payload": {**payload, **reserved, "tool_payload": payload},
        "dedupe_key": f"agentic:run:{run_id}:step:{run['step']}:request",
    }


def start(request, runs):
    payload = request["event"]["payload"]
    run_id = payload.get("run_id") or f"run-{request['job_id']}"
    run = {"status": "running", "goal": payload["goal"], "step": 1, "max_steps": 20, "reframes": 0, "max_reframes": 2}
    run.update(created_at=NOW, completed_steps=[], workspace_ref=f"job:{request['job_id']}")
    event = ask(run_id, run, "jina-reader", {"url": payload.get("context", {}).get("url", "")})
    answer([event], state_updates={"runs": {**runs, run_id: run}, "last_run_id": run_id})


def resume(request, runs):
    context, payload = request["context"], request["event"]["payload"]
    run_id, step, tool = context["run_id"], context["step"], context["tool"]
    run = runs.get(run_id)
    if not run or run["status"] != "running" or (run["pending_step"], run["pending_tool"]) != (step, tool):
        answer(logs=[{"level": "info", "message": f"{run_id}: nothing waits for step {step} of {tool}"}])
        return
    run.update(pending_step=None, pending_tool=None, pending_since=None, completed_steps=[*run["completed_steps"], step])
    if tool == "jina-reader":
        run["step"] = step + 1
        event = ask(run_id, run, "fabric", {"text": payload["content"], "pattern": "critique"})
    else:
        run.update(status="done", updated_at=NOW)
        done = {"run_id": run_id, "goal": run["goal"], "outcome": payload["result"], "steps_taken": step}
        event = {"type": "agent.completed", "payload": {**done, "artifacts": ["artifacts/critique.md"]}}
    answer([event], state_updates={"runs": {**runs, run_id: run}, "last_run_id": run_id})


def main():
    request = json.loads(sys.stdin.read())
    runs = request["state"].get("runs", {})
    if request["command"] == "health":
        answer()
    elif request["event"]["type"] in ("agentic.start", "api.trigger"):
        start(request, runs)
    else:
        resume(request, runs)


main()
