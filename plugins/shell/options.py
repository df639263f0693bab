"""The plugin's configuration. What cannot be read is refused: a mistyped allowlist must not allow more."""
import os
import re

from failure import Failure

NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9._+-]*\Z")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"


class Options:
    def __init__(self, config):
        self.allow = read_allow(config)
        self.cwd = read_cwd(config)
        self.environment = read_environment(config)
        self.ok_exit_codes = read_ok_exit_codes(config)
        self.timeout_ms = positive(config, "timeout_ms", 60_000)
        # Two outputs, each byte up to six in JSON; a response is at most 10 MiB.
        self.max_output_bytes = min(positive(config, "max_output_bytes", 65_536), 524_288)

    @property
    def search_path(self):
        """Only absolute folders: a program must not depend on the folder that it is started in."""
        return [folder for folder in self.environment["PATH"].split(":") if os.path.isabs(folder)]


def read_allow(config):
    allow = config.get("allow")
    if allow is None:
        return []
    if not isinstance(allow, list):
        raise Failure("config.allow is a list of program names and absolute paths.")
    for entry in allow:
        is_path = isinstance(entry, str) and os.path.isabs(entry) and os.path.normpath(entry) == entry
        if not is_path and not (isinstance(entry, str) and NAME.match(entry)):
            raise Failure("config.allow: %.100r is neither a program name nor an absolute path." % (entry,))
    return allow


def read_cwd(config):
    cwd = config.get("cwd")
    if cwd is not None and not (isinstance(cwd, str) and os.path.isabs(cwd)):
        raise Failure("config.cwd is an absolute path.")
    return cwd


def read_environment(config):
    """Little, and nothing of the operator's: programs also take their settings from the home folder."""
    variables = config.get("env")
    if variables is None:
        variables = {}
    if not isinstance(variables, dict):
        raise Failure("config.env maps names of variables to texts.")
    for name, value in variables.items():
        if not VARIABLE.match(name) or not isinstance(value, str) or "\0" in value:
            raise Failure("config.env: %.100r is not a variable with a text." % (name,))
    preset = {"PATH": os.environ.get("PATH", USUAL_PATH), "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    return {**preset, **variables}


def read_ok_exit_codes(config):
    codes = config.get("ok_exit_codes")
    if codes is None:
        return {0}
    if codes == "any":
        return set(range(256))
    if not isinstance(codes, list) or not all(is_integer(code) for code in codes):
        raise Failure('config.ok_exit_codes is a list of whole numbers, or "any".')
    return set(codes)


def positive(config, key, preset):
    value = config.get(key)
    if value is None:
        return preset
    if not is_integer(value) or value < 1:
        raise Failure("config.%s is a whole number above 0." % key)
    return value


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)
