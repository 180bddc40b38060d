"""Prose that an agent may answer, and that no rule may take for a dialog or a working row.

Owns the pages that `lint.py` tries a profile's patterns on: ordinary answers, code and logs, and answers that quote the
cues of agents in running sentences. A page is a few lines, each as a region would give it.
"""

from __future__ import annotations

_QUOTED = (
    "Do you want to proceed?",
    "Would you like to run the following command?",
    "esc to interrupt",
    "esc to cancel",
    "Esc to cancel",
    "Enter to select",
    "Press enter to confirm or esc to cancel",
    "Press any key to continue",
    "[y/N]",
    "[Y/n]",
    "(yes/no)",
    "Allow once",
    "1. Yes",
    "❯ 1. Yes",
    "Waiting for user confirmation",
    "Action Required",
    "Permission required",
    "Password:",
    "Working (12s • esc to interrupt)",
    "⠋ Thinking... (esc to cancel, 12s)",
    "✻ Pondering… (12s · esc to interrupt)",
    "ctrl+c to interrupt",
    "Retrying in 5s",
    "Rate limited",
    "Approve",
    "approval",
)

SAMPLES: tuple[tuple[str, ...], ...] = (
    (
        "I have looked at the three files and found the reason: the parser reads one line too many.",
        "The fix is small. Do you want me to apply it now, or would you rather see the test first?",
        "- src/parser.py: stop at the last newline",
        "- tests/test_parser.py: a case for a file without one",
        "All 42 tests pass. Let me know if you would like anything else.",
    ),
    (
        "def confirm(question: str) -> bool:",
        'answer = input(f"{question} [y/N] ")',
        'return answer.strip().lower() in ("y", "yes")',
        "# waiting for the user here would block the worker",
    ),
    (
        "2026-11-30 12:00:01 INFO  worker started, waiting for jobs",
        "2026-11-30 12:00:02 WARN  retrying in 5 seconds (attempt 2 of 3)",
        "2026-11-30 12:00:07 ERROR permission denied: /etc/shadow",
        "Downloading packages... 45% (3.2 MB of 7.1 MB, 12s left)",
        "Working directory: /home/demo/project",
        "Thinking about it again, the approval step is not needed.",
    ),
    (
        "1. Yes, the cache is warm after the first call.",
        "2. No, it is not shared between processes.",
        "> quoted: the agent asked whether it may run the command",
        "Choose an option: the first is faster, the second is safer.",
        "Enter the directory, select the file, press enter and confirm with y.",
    ),
    *(
        (
            "The tool prints a question there and waits for an answer.",
            f"It says “{cue}” and goes on once a key was pressed.",
            f"The words “{cue}” are at the end of its last line, in the footer: {cue}. That is all.",
        )
        for cue in _QUOTED
    ),
)
"""Pages of lines."""
