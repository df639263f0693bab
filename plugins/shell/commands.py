"""The plugin's commands, and what may run."""
import os

from child import run_child
from failure import Failure
from options import Options

MOST_ARGUMENTS = 1000
NO_FOLDER = "/nonexistent"


def answer(request):
    if not isinstance(request, dict):
        raise Failure("The request on stdin is not a JSON object.")
    options = Options(fields(request.get("config")))
    command = request.get("command")
    if command == "health":
        return health(options)
    if command == "handle":
        return handle(request, options)
    raise Failure("The shell plugin has no command %.100r." % (command,))


def health(options):
    if not options.allow:
        return {"status": "ok", "result": "shell is off: config.allow is empty.", "logs": []}
    for name in options.allow:
        find_program(name, options)
    return {"status": "ok", "result": "shell runs %s." % ", ".join(options.allow), "logs": []}


def handle(request, options):
    argv, stdin = read_payload(payload_of(request))
    if not options.allow:
        raise Failure("The shell plugin is off: config.allow is empty.")
    if argv[0] not in options.allow:
        raise Failure("The program %.100r is not in config.allow." % argv[0])
    cwd = working_folder(request, options)
    program = find_program(argv[0], options)
    if is_inside(os.path.realpath(program), cwd):
        raise Failure("%s is in the folder that it would run in, where its callers may write." % program)
    child = run_child(
        program=program,
        argv=argv,
        stdin=stdin,
        cwd=cwd,
        environment={**options.environment, "PATH": path_outside(cwd, options)},
        max_output_bytes=options.max_output_bytes,
        timeout_ms=options.timeout_ms,
    )
    return completed(argv, child, options)


def completed(argv, child, options):
    if child.exit_code < 0:
        raise Failure("%s was ended by signal %d.%s" % (argv[0], -child.exit_code, said(child)))
    if child.exit_code not in options.ok_exit_codes:
        raise Failure("%s exited with %d.%s" % (argv[0], child.exit_code, said(child)))
    result = "%s exited with %d." % (argv[0], child.exit_code)
    payload = {
        "argv": argv,
        "exit_code": child.exit_code,
        "stdout": child.stdout.text(),
        "stderr": child.stderr.text(),
        "stdout_clipped": child.stdout.is_clipped,
        "stderr_clipped": child.stderr.is_clipped,
    }
    return {
        "status": "ok",
        "result": result,
        "events": [{"type": "shell.completed", "payload": payload}],
        "logs": [{"level": "info", "message": result}],
    }


def said(child):
    text = child.stderr.text().strip()[-500:]
    return " It printed: %s" % text if text else ""


def read_payload(payload):
    argv = payload.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(argument, str) for argument in argv):
        raise Failure("argv is a list of texts: the program and its arguments.")
    if len(argv) > MOST_ARGUMENTS:
        raise Failure("argv has more than %d texts." % MOST_ARGUMENTS)
    stdin = payload.get("stdin")
    if stdin is not None and not isinstance(stdin, str):
        raise Failure("stdin is not a text.")
    try:
        for argument in argv:
            if b"\0" in argument.encode("utf-8"):
                raise Failure("An argument contains a NUL character.")
        return argv, (stdin or "").encode("utf-8")
    except UnicodeEncodeError:
        raise Failure("argv or stdin contains half a surrogate pair.")


def working_folder(request, options):
    """The workspace; config.cwd for jobs outside an agent run."""
    workspace = request.get("workspace_dir") or options.cwd
    if workspace is None:
        raise Failure("There is no workspace, and config.cwd names no folder.")
    if not isinstance(workspace, str) or not os.path.isabs(workspace) or not os.path.isdir(workspace):
        raise Failure("The folder to run in is not there.")
    return os.path.realpath(workspace)


def find_program(name, options):
    candidates = [name] if os.path.isabs(name) else [os.path.join(folder, name) for folder in options.search_path]
    for candidate in candidates:
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise Failure("The program %s is not on this machine." % name)


def path_outside(cwd, options):
    """What the program looks up itself is not taken from where its callers may write either."""
    folders = [folder for folder in options.search_path if not is_inside(os.path.realpath(folder), cwd)]
    return ":".join(folders) or NO_FOLDER  # an empty PATH would stand for the folder that it runs in


def is_inside(path, folder):
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def payload_of(request):
    """The event's payload; for callers that send none, the payload of the job."""
    event = fields(request.get("event"))
    if isinstance(event.get("payload"), dict):
        return event["payload"]
    payload = fields(request.get("payload"))
    if isinstance(payload.get("type"), str) and isinstance(payload.get("payload"), dict):
        return payload["payload"]
    return payload


def fields(value):
    return value if isinstance(value, dict) else {}
