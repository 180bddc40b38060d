"""A small scripted agent: it idles at a prompt, works, asks for permission, and works on.

It stands in for a real one where none is installed. It tells its state as real agents do, by OSC 7501 and a spinner in
the title, and knows nothing of the wrapper.

usage: python -m lifecycle_wrap.commands.demo_agent [--auto]      (--auto plays the user too)
"""

from __future__ import annotations

import sys
import time

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAME_SECONDS = 0.1
WORK_SECONDS = 2.0
AUTO_PAUSE = 2.5


def main() -> int:
    """Run until the user leaves with an empty line or Ctrl-D."""
    auto = "--auto" in sys.argv[1:]
    say("demo agent: type a task and press Enter; an empty line or Ctrl-D leaves\n")
    tasks = iter(["write hello.txt"])
    try:
        while task := ask("idle", "> ", next(tasks, "") if auto else None):
            work(f"thinking about {task!r}")
            answer = ask("blocked:kind=permission", "Run `touch hello.txt`? [Y/n] ", "y" if auto else None)
            if answer.lower() in ("", "y", "yes"):
                work("running touch hello.txt (only pretending)")
            report("done")
            say("done\n")
    except (EOFError, KeyboardInterrupt):
        say("\n")
    say("\x1b]0;\x07")
    report("clear")
    return 0


def ask(state: str, prompt: str, scripted: str | None) -> str:
    """Report a state that waits for the user, and return what is typed."""
    title("demo" if state == "idle" else "! demo")
    report(state)
    if scripted is None:
        return input(prompt)
    say(prompt)
    time.sleep(AUTO_PAUSE)
    say(f"{scripted}\n")
    return scripted


def work(what: str) -> None:
    """Report work for a while, with a spinner."""
    report("working")
    for frame in range(int(WORK_SECONDS / FRAME_SECONDS)):
        glyph = FRAMES[frame % len(FRAMES)]
        title(f"{glyph} demo")
        say(f"\r{glyph} {what}")
        time.sleep(FRAME_SECONDS)
    say(f"\r* {what}\n")


def report(state: str) -> None:
    """Tell the state to the terminal: OSC 7501, "Program Status"."""
    say(f"\x1b]7501;state={state}:app=demo\x1b\\")


def title(text: str) -> None:
    """Set the window title."""
    say(f"\x1b]0;{text}\x07")


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
