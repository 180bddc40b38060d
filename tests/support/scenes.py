"""Agents' screens drawn at any size: at rest, at work, and with a dialog, wrapped as the agents wrap them.

Each scene is what a real agent shows (the recordings in fixtures/recordings hold the originals at 100 columns).
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

TRANSCRIPT = (
    "",
    "  Some words of an answer that was given before, long enough to be wrapped on every screen that is not wide.",
    "",
)


def wrapped(lines: Sequence[str], width: int) -> list[str]:
    """Wrap at blanks; what goes on is indented as its first row, and two more."""
    rows: list[str] = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        rows += textwrap.wrap(
            line,
            width,
            subsequent_indent=indent + "  ",
            drop_whitespace=False,
            replace_whitespace=False,
        ) or [""]
    return [row.rstrip() for row in rows]


def cut(line: str, width: int) -> str:
    """Cut a footer short as agents do."""
    return line if len(line) <= width else line[: width - 1] + "…"


def rule(width: int) -> str:
    return "─" * width


def box(lines: Sequence[str], width: int) -> list[str]:
    inner = [f"│ {row:{width - 4}} │" for row in wrapped(lines, width - 4)]
    return ["╭" + "─" * (width - 2) + "╮", *inner, "╰" + "─" * (width - 2) + "╯"]


def bar(lines: Sequence[str], width: int) -> list[str]:
    return [f"  ┃  {row}".rstrip() for row in wrapped(lines, width - 6)]


def between_rules(lines: Sequence[str], width: int) -> list[str]:
    return [rule(width), *wrapped(lines, width), rule(width)]


def below_rule(lines: Sequence[str], width: int) -> list[str]:
    return [rule(width), *wrapped(lines, width)]


Frame = Callable[[Sequence[str], int], list[str]]


@dataclass(frozen=True)
class Agent:
    """How one agent draws.

    Attributes:
        profile: its profile's name.
        composer: the composer and its frame for a width.
        rest, work: what stands below the composer when idle and when working; `{spinner}` turns.
        status, rest_status: what stands above the composer when working and when idle.
        dialogs: each dialog's lines.
        frame: what is drawn around a dialog.
        footer: what stands below a dialog.
    """

    profile: str
    composer: Callable[[int], list[str]]
    dialogs: tuple[tuple[str, ...], ...]
    frame: Frame
    rest: tuple[str, ...] = ()
    work: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    rest_status: tuple[str, ...] = ()
    spinner: str = "⠋⠙⠹⠸"
    footer: tuple[str, ...] = ()

    def at_rest(self, width: int) -> list[str]:
        return [
            *wrapped(TRANSCRIPT, width),
            *wrapped(self.rest_status, width),
            *self.composer(width),
            *(cut(line, width) for line in self.rest),
        ]

    def at_work(self, width: int, frame: int) -> list[str]:
        turn = {"spinner": self.spinner[frame % len(self.spinner)]}
        return [
            *wrapped(TRANSCRIPT, width),
            *wrapped([line.format(**turn) for line in self.status], width),
            *self.composer(width),
            *(cut(line.format(**turn), width) for line in self.work),
        ]

    def asking(self, width: int, dialog: Sequence[str]) -> list[str]:
        return [
            *wrapped(TRANSCRIPT, width),
            *self.frame(dialog, width),
            *(cut(line, width) for line in self.footer),
        ]


AGENTS = (
    Agent(
        "claude",
        lambda width: [rule(width), "❯", rule(width)],
        (
            (
                " Bash command",
                "   sleep 4",
                " Do you want to proceed?",
                " ❯ 1. Yes",
                "   2. Yes, and always allow access to /tmp/demo/project from this project",
                "   3. No",
                "",
                " Esc to cancel · Tab to amend",
            ),
            (
                " Create file",
                " new.txt",
                " Do you want to create new.txt?",
                " ❯ 1. Yes",
                "   2. Yes, allow all edits during this session",
                "   3. No",
                "",
                " Esc to cancel",
            ),
            (
                " ☐ Choice",
                "",
                "Which colour?",
                "",
                "❯ 1. Alpha",
                "  2. Beta",
                "  3. Type something.",
                "",
                "Enter to select · ↑/↓ to navigate · Esc to cancel",
            ),
            (
                " Exit plan mode?",
                " Claude wants to exit plan mode",
                " ❯ 1. Yes, and switch to default mode",
                "   2. No",
            ),
        ),
        below_rule,
        rest=("  ⏸ manual mode on · ? for shortcuts",),
        work=("  ⏸ manual mode on · esc to interrupt",),
        status=("{spinner} Pondering… (3s · ↓ 20 tokens)", ""),
        spinner="✢✳✶✻",
    ),
    Agent(
        "codex",
        lambda width: ["› Ask Codex to do anything", ""],
        (
            (
                "  Would you like to run the following command?",
                "",
                "  $ sleep 4 && touch made.txt",
                "",
                "› 1. Yes, proceed (y)",
                "  2. Yes, and don't ask again for commands that start with `sleep 4` (p)",
                "  3. No, and tell Codex what to do differently (esc)",
                "",
                "  Press enter to confirm or esc to cancel",
            ),
            (
                "  Question 1/1 (1 unanswered)",
                "  Which colour?",
                "",
                "  › 1. Alpha",
                "    2. Beta",
                "",
                "  tab to add notes | enter to submit answer | esc to interrupt",
            ),
        ),
        wrapped,
        rest=("  mock-model default · /tmp/demo/project", "  ← for agents · ? for shortcuts"),
        work=("  mock-model default · /tmp/demo/project", "  ← for agents · ? for shortcuts"),
        status=("{spinner} Working (3s • esc to interrupt)", ""),
        spinner="•◦",
    ),
    Agent(
        "copilot",
        lambda width: [rule(width), "❯", rule(width)],
        (
            (
                "sleep 4",
                "Do you want to run this command?",
                "",
                "❯ 1. Yes",
                "  2. Yes, and don't ask again for `sleep` in this repo (/tmp/demo/project)",
                "  3. No, and tell Copilot what to do differently (Esc to stop)",
                "",
                "↑/↓ to navigate · enter to select · esc to cancel",
            ),
        ),
        box,
        rest=(" ← open sidebar · Interactive · Manual Approval · / commands",),
        work=(" {spinner} Working · 15 B esc esc interrupt",),
        spinner="◎◉●○",
    ),
    Agent(
        "cline",
        lambda width: [rule(width), "❯ Ask anything...", rule(width)],
        (
            (
                " Cline needs permission",
                "",
                " Approve tool call?",
                "",
                " run_commands",
                "",
                "  [y] Approve   [n] Deny",
                "",
            ),
        ),
        wrapped,
        rest=(" mock-model (0) $0.00", " project (main)", " Auto-approve all disabled (Shift+Tab)"),
        work=(" mock-model (0) $0.00", " project (main)", " Auto-approve all disabled (Shift+Tab)"),
        footer=(" mock-model (0) $0.00", " project (main)", " Auto-approve all disabled (Shift+Tab)"),
        status=(" {spinner} run_commands(sleep 4)", ""),
    ),
    Agent(
        "opencode",
        lambda width: ["  ┃", "  ┃", "  ┃  Build · Mock Model Mock", "  ╹" + "▀" * (width - 4)],
        (
            (
                "△ Permission required",
                "  # Shell command",
                "",
                "$ sleep 4",
                "",
                "Allow once   Allow always   Reject",
                "⇆ select  enter confirm",
            ),
            (
                "Which colour?",
                "",
                "1. Alpha",
                "2. Beta",
                "3. Type your own answer",
                "",
                "↑↓ select  enter submit  esc dismiss",
            ),
        ),
        bar,
        rest=("   /tmp/demo/project", "   15 (0%)  ctrl+p commands"),
        work=("   {spinner}  esc interrupt  ctrl+p commands",),
        spinner="■⬝",
    ),
    Agent(
        "gemini",
        lambda width: [rule(width), " Shift+Tab to accept edits", "", " >   Type your message or @path/to/file"],
        (
            (
                "? Shell  sleep 4",
                "Allow execution of [Shell]?",
                "",
                "● 1. Allow once",
                "  2. Allow for this session",
                "  3. No, suggest changes (esc)",
            ),
            (
                "Answer Questions",
                "",
                "Which colour?",
                "",
                "● 1.  Alpha",
                "  2.  Beta",
                "",
                "Enter to select · ↑/↓ to navigate · Esc to cancel",
            ),
        ),
        box,
        rest=("", " /tmp/demo/project   main   Auto"),
        work=("", " /tmp/demo/project   main   Auto"),
        status=(" {spinner} Thinking... (esc to cancel, 3s)",),
    ),
    Agent(
        "qwen",
        lambda width: [rule(width), ">   Type your message or @path/to/file", rule(width)],
        (
            (
                "? Shell python3",
                "Allow execution of: 'python3'?",
                "",
                "› 1. Yes, allow once",
                "  2. Always allow",
                "  4. No, suggest changes (esc)",
            ),
            (
                "? AskUserQuestion",
                "Which colour?",
                "❯ 1. Alpha",
                "  2. Beta",
                "↑/↓: Navigate | Enter: Select | Esc: Cancel",
            ),
        ),
        box,
        rest=("  ➜ project · mock-model", "  ⏸ Ask permissions (shift + tab to cycle)"),
        work=("  ➜ project · mock-model", "  Enter to steer · Ctrl+Q to queue"),
        status=("  {spinner} Brewing fresh bytes... (3s · ↓ 21 tokens · esc to cancel)",),
    ),
    Agent(
        "pi",
        lambda width: [rule(width), "", rule(width)],
        (
            (
                "",
                " ⚠️ Dangerous command:",
                "",
                "   sleep 4 || sudo true",
                "",
                " Allow?",
                "",
                " → Yes",
                "   No",
                "",
                " ↑↓ navigate  enter select  escape/ctrl+c cancel",
                "",
            ),
        ),
        between_rules,
        rest=("/tmp/demo/project (main)", "0.0%/200k (auto)  mock-model"),
        work=("/tmp/demo/project (main)", "0.0%/200k (auto)  mock-model"),
        footer=("/tmp/demo/project (main)", "0.0%/200k (auto)  mock-model"),
        status=(" {spinner} Working...", ""),
    ),
    Agent(
        "omp",
        lambda width: ["╰─"],
        (
            ("Command: sleep 4", "", " ❯ Approve", "   Deny", "", "up/down navigate  enter select  esc cancel"),
            ("Which colour?", "", "❯ ○ Alpha", "  ○ Beta", "", "Enter select · n note · ↑/↓ move · Esc cancel"),
        ),
        box,
        status=(" {spinner} 5s > ⬢ Mock Model",),
        rest_status=(" π > ⬢ Mock Model",),
    ),
)
