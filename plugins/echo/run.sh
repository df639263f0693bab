#!/bin/sh
# One request on stdin, one response on stdout, with nothing but sh and awk.
#
# awk reads the request in records that end at double quotes, so that strings and the structure between them alternate.
# Texts stay escaped as they came, and are printed as they are.
LC_ALL=C awk '
BEGIN {
  RS = "\""
  HANGS = 200
}

in_string { take_string($0); next }
{ take_structure($0); begin_string() }

END {
  # Well-formed input ends after a structure, which has prepared for a string that never comes.
  if (!in_string || depth != 0 || !is_object || is_malformed) fail("The request on stdin is not JSON.")
  else if (found["command"] == "health") succeed_with("echo is ready.")
  else if (found["command"] != "handle" && found["command"] != "poll") fail("The echo plugin has no such command.")
  else if (found["config/mode"] == "hang") exit HANGS
  else if (found["config/mode"] == "protocol_error") print "This is not a response."
  else if (found["config/mode"] == "error") fail("config.mode is error.", found["config/retry"] != "false")
  else if (found["config/mode"] != "") fail("config.mode is error, hang or protocol_error.")
  else echo()
  if (found["config/exit_code"] ~ /^[0-9]+$/ && found["config/exit_code"] + 0 < 126) exit found["config/exit_code"] + 0
}

# Where the value that comes next stands, such as config/mode; empty in lists and deeper than three keys.
function path(  i, joined) {
  if (depth > 3) return ""
  for (i = 1; i <= depth; i++) {
    if (kind[i] != "{") return ""
    joined = joined (i > 1 ? "/" : "") key[i]
  }
  return joined
}

function take_structure(text,  i, character, last) {
  last = length(text)
  for (i = 1; i <= last; i++) {
    character = substr(text, i, 1)
    if (character == " " || character == "\n" || character == "\t" || character == "\r") continue
    if (character == "{" || character == "[") {
      if (depth == 0 && character == "{") is_object = 1
      if (raw == "" && depth < 3 && path() ~ /^(event\/)?payload$/) { raw = path(); raw_depth = depth }
      depth++
      kind[depth] = character
      key[depth] = ""
      expects_key = (character == "{")
      keep_raw(character)
    } else if (character == "}" || character == "]") {
      keep_raw(character)
      depth--
      expects_key = 0
      if (raw != "" && depth == raw_depth) raw = ""
    } else {
      keep_raw(character)
      if (character == ",") expects_key = (kind[depth] == "{")
      else if (character == ":") expects_key = 0
      else if (depth == 2 && key[1] == "config") found[path()] = found[path()] character
    }
  }
}

function begin_string() {
  in_string = 1
  is_key = expects_key
  is_first_piece = 1
  keep_raw("\\\"")
}

# A piece of a string; the quote after it ends the string unless it is escaped.
function take_string(piece,  i, escaped, name) {
  for (i = length(piece); i > 0 && substr(piece, i, 1) == "\\"; i--) escaped = !escaped
  check(piece)
  name = is_key ? "" : path()
  # No key that is looked for contains an escaped quote.
  if (is_key) key[depth] = is_first_piece && !escaped ? piece : "?"
  else if (name == "command" || name == "config/mode") found[name] = found[name] piece
  else if (name ~ /^(event\/payload|payload\/payload|payload)\/text$/) keep(name, piece (escaped ? "\"" : ""))
  if (raw != "") {
    gsub(/\\/, "&&", piece)
    keep_raw(piece "\\\"")
  }
  is_first_piece = 0
  if (!escaped) in_string = 0
}

# Control characters and unknown escapes: in the response they would not be JSON either.
function check(piece) {
  if (piece ~ /[\001-\037]/) is_malformed = 1
  gsub(/\\\\/, "", piece)
  gsub(/\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]/, "", piece)
  gsub(/\\[bfnrt\/]/, "", piece)
  sub(/\\$/, "", piece)
  if (piece ~ /\\/) is_malformed = 1
}

function keep(name, piece) {
  pieces[name, count[name]++] = piece
}

function keep_raw(piece) {
  if (raw != "") keep(raw, piece)
}

function echo() {
  if (has("event/payload/text")) print_result("event/payload/text")
  else if (has("payload/payload/text")) print_result("payload/payload/text")
  else if (has("payload/text")) print_result("payload/text")
  else if (has("event/payload")) print_result("event/payload")
  else if (has("payload")) print_result("payload")
  else succeed_with("echo")
}

# A result must not be blank.
function has(name) {
  return count[name] > 1 || count[name] == 1 && pieces[name, 0] ~ /[^ ]/
}

function print_result(name,  i) {
  printf "{\"status\":\"ok\",\"result\":\""
  for (i = 0; i < count[name]; i++) printf "%s", pieces[name, i]
  print "\",\"logs\":[]}"
}

function succeed_with(result) {
  print "{\"status\":\"ok\",\"result\":\"" result "\",\"logs\":[]}"
}

function fail(message, may_retry) {
  print "{\"status\":\"error\",\"error\":\"" message "\",\"retry\":" (may_retry ? "true" : "false") ",\"logs\":[]}"
}
'
status=$?
if [ "$status" -eq 200 ]; then exec tail -f /dev/null; fi
exit "$status"
