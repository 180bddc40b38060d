"""The CLI of the cmux app, as far as a reporter uses it: statuses per workspace, kept in a file.

The app runs on macOS only. Facts: options are recognised anywhere, and one without `=` eats the next word; values are
joined by spaces; "OK" means parsed, not done; a process that does not descend from the app's terminals is refused; the
CLI refuses when `CMUX_SOCKET` and `CMUX_SOCKET_PATH` are both set and differ. Without a workspace the selected one is
the target. `notify` wants a title and prints the id of the notification.

usage: fake_cmux.py COMMAND ...       with FAKE_CMUX_STATE naming the file, FAKE_CMUX_REFUSE=1 to refuse
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

OPTIONS = frozenset({"icon", "color", "priority", "workspace", "window", "pid", "surface", "panel", "id"})
OPTIONS |= {"title", "subtitle", "body"}


def main(argv: list[str]) -> int:
    """Do one command."""
    if "CMUX_SOCKET" in os.environ and os.environ["CMUX_SOCKET"] != os.environ.get("CMUX_SOCKET_PATH"):
        return fail("CMUX_SOCKET and CMUX_SOCKET_PATH conflict")
    if os.environ.get("FAKE_CMUX_REFUSE"):
        return fail("ERROR: Access denied")
    words, options = split(argv)
    path = Path(os.environ["FAKE_CMUX_STATE"])
    state: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"calls": [], "workspaces": {}}
    state["calls"].append(argv)
    workspace = state["workspaces"].setdefault(
        options.get("workspace", "selected"), {"status": {}, "loading": [], "notified": []}
    )
    status = act(words, options, workspace)
    partial = path.with_suffix(".new")
    partial.write_text(json.dumps(state))
    partial.replace(path)
    return status


def act(words: list[str], options: dict[str, str], workspace: dict[str, Any]) -> int:
    """Change a workspace."""
    match words:
        case ["set-status", key, _, *_]:
            if not re.fullmatch(r"-?\d+", options.get("priority", "0")):
                return fail("ERROR: priority must be an integer")
            if not re.fullmatch(r"#[0-9A-Fa-f]{6}", options.get("color", "#000000")):
                return fail("ERROR: bad color")
            workspace["status"][key] = {"value": " ".join(words[2:]), **options}
        case ["clear-status", key]:
            workspace["status"].pop(key, None)
        case ["workspace", "loading", "on" | "off" as word]:
            key = options.get("id", "manual")
            workspace["loading"] = [held for held in workspace["loading"] if held != key]
            if word == "on":
                workspace["loading"].append(key)
        case ["notify"]:
            if not options.get("title"):
                return fail("ERROR: notify requires --title")
            workspace["notified"].append({name: options.get(name, "") for name in ("title", "body", "surface")})
            print(f"notification:{len(workspace['notified'])}")
        case _:
            return fail("usage: unknown command")
    return 0


def split(argv: list[str]) -> tuple[list[str], dict[str, str]]:
    """Tell words from options."""
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and name in OPTIONS:
            options[name] = value if equals else next(rest, "")
        else:
            words.append(word)
    return words, options


def fail(text: str) -> int:
    """Tell an error."""
    sys.stderr.write(text + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
