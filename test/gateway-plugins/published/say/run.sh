#!/usr/bin/env bash
# Says the text of its event, with jq if it is there and with python3 otherwise. It emits nothing.
set -euo pipefail

request="$(cat)"

field() {
  if command -v jq > /dev/null 2>&1; then
    printf '%s' "$request" | jq -r "$1 // \"\""
  else
    printf '%s' "$request" | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].strip(".").split("."):
    value = value.get(key) or {}
print(value or "")' "$1"
  fi
}

if [ "$(field .command)" = health ]; then
  echo '{"status":"ok","result":"healthy"}'
  exit 0
fi
text="$(field .event.payload.text)"
echo "said ${#text} characters" >&2
printf '{"status":"ok","result":"%s","logs":[{"level":"info","message":"said"}]}\n' "$text"
