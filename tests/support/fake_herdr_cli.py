"""The `herdr` command for reporters: `herdr pane VERB PANE --flag value ...`; see `fake_herdr`.

Exit 0 prints nothing; 1 is one JSON error line, or plain text for a bad value; 2 is usage. The protocol of the
"binary" is `FAKE_HERDR_PROTOCOL`; each call is noted in `FAKE_HERDR_CALLS`.
"""

from __future__ import annotations

import json
import os
import socket
import sys

VERBS = {
    "report-agent": ("source", "agent", "state", "message", "seq", "agent-session-id", "agent-session-path"),
    "release-agent": ("source", "agent", "seq"),
    "report-metadata": (
        *("source", "agent", "applies-to-source", "title", "display-agent", "state-label", "token", "clear-token"),
        *("seq", "ttl-ms"),
    ),
}
SWITCHES = ("clear-title", "clear-display-agent", "clear-state-labels")


def main(argv: list[str]) -> int:
    """Do one call."""
    if calls := os.environ.get("FAKE_HERDR_CALLS"):
        with open(calls, "a") as file:
            file.write(json.dumps(argv) + "\n")
    if len(argv) < 3 or argv[0] != "pane" or argv[1] not in VERBS or argv[2].startswith("--"):
        return usage()
    params: dict[str, object] = {"pane_id": argv[2]}
    words = iter(argv[3:])
    for word in words:
        name = word.removeprefix("--")
        if name in SWITCHES and argv[1] == "report-metadata":
            params[name.replace("-", "_")] = True
            continue
        value = next(words, None)
        if name not in VERBS[argv[1]] or value is None:
            return usage()
        if name == "state-label":
            key, _, text = value.partition("=")
            params["state_labels"] = {key: text}
        elif name in ("seq", "ttl-ms"):
            if not value.isdecimal():
                return fail(f"invalid number for --{name}")
            params[name.replace("-", "_")] = int(value)
        else:
            params[name.replace("-", "_")] = value
    if params.get("state", "idle") not in ("idle", "working", "blocked", "unknown"):
        return fail("invalid --state")
    try:
        pong = request("ping", {})
    except OSError:
        return fail('{"code":"server_not_running","message":"no server"}')
    if pong["result"]["protocol"] != int(os.environ.get("FAKE_HERDR_PROTOCOL", "20")):
        return fail('{"code":"protocol_mismatch","message":"restart the server"}')
    answer = request("pane." + argv[1].replace("-", "_"), params)
    return fail(json.dumps(answer["error"])) if "error" in answer else 0


def request(method: str, params: dict[str, object]) -> dict[str, dict[str, object]]:
    """Ask the server, on a connection of its own."""
    default = os.path.join(os.environ["HOME"], ".config", "herdr", "herdr.sock")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ.get("HERDR_SOCKET_PATH") or default)
        connection.sendall(json.dumps({"id": "cli", "method": method, "params": params}).encode() + b"\n")
        with connection.makefile("rb") as stream:
            answer: dict[str, dict[str, object]] = json.loads(stream.readline())
    return answer


def usage() -> int:
    """Refuse the command line."""
    sys.stderr.write("usage: herdr pane <verb> <pane_id> [--flag value]...\n")
    return 2


def fail(text: str) -> int:
    """Tell an error."""
    sys.stderr.write(text + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
