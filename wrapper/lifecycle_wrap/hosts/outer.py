"""Hosts as the terminal that we sit in: rows of `terminals`, questions to tmux, and those told in the session's bytes.

Owns what stands between us and the user's terminal: what a multiplexer does not forward must not be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lifecycle_wrap.terminal.terminals import ALWAYS, Terminal

from . import orca

if TYPE_CHECKING:
    from lifecycle_wrap.config import Config

QUERY_SECONDS = 0.5
"""How long tmux may take over an answer."""


def through_tmux(sequence: bytes) -> bytes:
    r"""Wrap a sequence so that tmux passes it on: `ESC P tmux; ... ESC \`, every ESC in it doubled."""
    return b"\x1bPtmux;" + sequence.replace(b"\x1b", b"\x1b\x1b") + b"\x1b\\"


MULTIPLEXERS: tuple[tuple[tuple[str, ...], Terminal], ...] = (
    (
        ("tmux", "screen"),
        Terminal(
            "tmux",
            marks=(("TMUX", ""), ("TERM_PROGRAM", "tmux")),
            answers="tmux",
            progress_since=(3, 7),
            title_stack=True,
            focus=True,
            is_multiplexer=True,
            sources={
                "progress": "CHANGES 3.7: kept per pane, drawn where the client's terminal does; before, swallowed",
                "title_stack": "tried with 3.3a: per pane",
                "focus": "with focus-events on",
            },
        ),
    ),
    (
        (),
        Terminal(
            "zellij",
            marks=(("ZELLIJ", ""),),
            answers="zellij",
            title_stack=True,
            is_multiplexer=True,
            answers_by_name=False,
            sources={
                "progress": "source, grid.rs: before 0.45 swallowed, then taken for a notification",
                "notify": "BEL is forwarded since 0.44 (#4781), OSC 9 and 777 to all clients since 0.45",
                "title_stack": "source, grid.rs",
            },
        ),
    ),
    (
        ("screen",),
        Terminal(
            "GNU screen",
            marks=(("STY", ""),),
            title_stack=False,
            focus=False,
            is_multiplexer=True,
            answers_by_name=False,
            sources={"progress": "tried with 4.9.0: swallowed; no XTVERSION; BEL as a terminator beeps"},
        ),
    ),
    (
        ("xterm-256color",),
        Terminal(
            "herdr",
            marks=(("HERDR_ENV", "1"),),
            is_multiplexer=True,
            answers_by_name=False,
            sources={"progress": "source, pane/osc.rs: OSC 9 is kept for its own rules, nothing is forwarded"},
        ),
    ),
    (
        ("xterm-256color",),
        Terminal(
            "cmux-tui",
            marks=(("CMUX_TUI_TERMINAL_ID", ""),),
            answers="libghostty",
            is_multiplexer=True,
            sources={"progress": "tried with 0.13.4: OSC 9, 777, 99, BEL and the title stack have no effect"},
        ),
    ),
)
"""Each with how `TERM` begins inside it, where that is known: that tells the innermost of several."""


def multiplexers(environ: Mapping[str, str]) -> Sequence[Terminal]:
    """Return the rows, those first that `TERM` speaks for."""
    term = environ.get("TERM", "")
    ordered = sorted(MULTIPLEXERS, key=lambda row: not (row[0] and term.startswith(row[0])))
    return [terminal for _, terminal in ordered]


class TmuxView(NamedTuple):
    """What tmux says of the pane and of the client that shows it.

    Attributes:
        version: tmux's own.
        passthrough: `allow-passthrough` of the pane: `off`, `on`, `all`, or empty where there is no such option.
        features: the client's terminal features.
        terminal: the client's terminal, by its own answer to XTVERSION.
    """

    version: str
    passthrough: str
    features: frozenset[str]
    terminal: str


_FORMAT = "#{version}\t#{allow-passthrough}\t#{client_termfeatures}\t#{client_termtype}"


def ask_tmux(environ: Mapping[str, str]) -> TmuxView | None:
    """Ask the tmux that we are in; None where it does not answer in time."""
    import subprocess

    pane = environ.get("TMUX_PANE", "")
    command = ["tmux", "display-message", "-p", *(("-t", pane) if pane else ()), _FORMAT]
    try:
        answer = subprocess.run(
            command, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, timeout=QUERY_SECONDS, check=True
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return None
    version, passthrough, features, terminal = (*answer.rstrip("\n").split("\t"), "", "", "")[:4]
    passthrough = {"0": "off", "1": "on"}.get(passthrough, passthrough)  # 3.3 tells its choices as a flag
    return TmuxView(version, passthrough, frozenset(filter(None, features.split(","))), terminal)


def ask_around(terminal: Terminal, environ: Mapping[str, str]) -> str:
    """Tell what tmux says of the terminal around it, in words; nothing for any other. May block."""
    view = ask_tmux(environ) if terminal.name == "tmux" else None
    if view is None:
        return ""
    features = ", ".join(sorted(view.features)) or "none"
    passthrough = view.passthrough or "not known here"
    return (
        f"{view.terminal or 'no client'} (features: {features}); tmux {view.version}, allow-passthrough {passthrough}"
    )


def adapter(config: Config, environ: Mapping[str, str]) -> Callable[[Terminal], Terminal]:
    """Return what turns a row into what the user's options make of it; asks what they need to know, so it may block.

    Progress is wrapped where the user wants that and the pane passes it from hidden windows too: with `on` alone a
    wrapped clear from a hidden window is lost, and the bar stays for ever.
    """
    view = None
    if config.host_options["tmux"]["tmux_progress"] == "passthrough" and environ.get("TMUX"):
        view = ask_tmux(environ)

    def adapt(terminal: Terminal) -> Terminal:
        wraps = view is not None and view.passthrough == "all" and terminal.name == "tmux"
        if not wraps or terminal.draws_progress:
            return terminal
        return replace(terminal, progress_since=ALWAYS, wrap=through_tmux)

    return adapt


def in_band(config: Config, environ: Mapping[str, str], agent: str) -> list[orca.OrcaStatus]:
    """Return what writes the state between the agent's bytes, for the hosts that the user wants told so."""
    return [] if orca.off_reason(config, environ) else [orca.OrcaStatus(agent)]
