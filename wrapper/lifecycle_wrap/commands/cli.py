"""The command line of everything but a run: typer's app.

Owns options, their help and the exit statuses; the work is done by the module that each command names. Starting an
agent does not come through here (`__main__` goes straight to `launch`), so this may import what it likes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253  # this module is only imported once no agent waits

from lifecycle_wrap import __version__

from . import cli_profiles, cli_sessions, cli_setup
from .command_line import EPILOG, USAGE_ERROR, add, fail, help_text

app = typer.Typer(
    name="lifecycle-wrap",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Put it in front of any coding agent: `lifecycle-wrap -- claude`.\n\n"
        "It runs the unmodified agent, works out whether it is idle, working or blocked, and tells the terminal hosts "
        "around it. The commands below look at recordings, configuration and running sessions."
    ),
    epilog=help_text(EPILOG),
)


ProfileOption = Annotated[str, typer.Option("--profile", metavar="NAME", help="Use this profile instead of a guess.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lifecycle-wrap {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    config: cli_setup.ConfigOption = None,
    profile: ProfileOption = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Do not start the agent if configuration or profiles have errors.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Write more to the log.")] = False,
    explain: Annotated[
        Path | None, typer.Option("--explain", metavar="FILE", help="Write the reason of each change of state there.")
    ] = None,
    headless: Annotated[
        str, typer.Option("--headless", metavar="report", help="Without a terminal: tell the agent's start and end.")
    ] = "",
) -> None:
    """Options of a run, for the help; a run does not come through here (see `arguments`)."""
    if config or profile or strict or debug or explain or headless:
        raise fail("options before a command are those of a run; write them after the command's name", USAGE_ERROR)


RecordingPath = Annotated[Path, typer.Argument(metavar="FILE.cast[.gz]", help="An asciicast v2 or v3 recording.")]
ScreenOption = Annotated[bool, typer.Option("--no-screen", help="Look at signals only.")]
SignalsOption = Annotated[
    bool, typer.Option("--no-signals", help="Look at the screen only: titles, 9;4, 7501, notifications, BEL left out.")
]


def replay(
    file: RecordingPath,
    json: Annotated[bool, typer.Option("--json", help="One JSON object per state change.")] = False,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Draw the states over time, true markers below.")
    ] = False,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Write the timeline as a picture.")] = None,
    at: Annotated[
        float | None, typer.Option("--at", metavar="SECONDS", min=0, help="With --svg: the screen at that time too.")
    ] = None,
    profile: ProfileOption = "",
    no_screen: ScreenOption = False,
    no_signals: SignalsOption = False,
) -> None:
    """Tell the states of a recording, as a live run would have.

    Examples:
      lifecycle-wrap replay demo.cast
      lifecycle-wrap replay --timeline demo.cast
      lifecycle-wrap replay --svg demo.svg --at 12 demo.cast
    """
    from lifecycle_wrap.recordings.progress import with_progress
    from lifecycle_wrap.recordings.recording import RecordingError

    from . import replay as replays

    try:
        recording, session = replays.prepare(file, profile, screen=not no_screen, signals=not no_signals)
        if timeline or svg:
            from lifecycle_wrap.recordings.drawing import draw_recording

            draw_recording(recording, session, timeline=timeline, svg=svg, at=at)
        else:
            for change in replays.state_changes(with_progress(recording), session):
                print(replays.as_json(change) if json else replays.as_row(change))
    except RecordingError as error:
        raise fail(str(error)) from None
    except replays.UnknownProfileError as error:
        raise fail(str(error), USAGE_ERROR) from None
    except OSError as error:
        raise fail(f"{svg}: cannot be written ({error.strerror}); name a file that can") from None


def demo(
    auto: Annotated[bool, typer.Option("--auto", help="Let the demo agent play its user too.")] = False,
) -> None:
    """Run a small scripted agent under the wrapper, and show what a host around it is told.

    Example:
      lifecycle-wrap demo
    """
    from .demo import demo as run_demo

    raise typer.Exit(run_demo(auto=auto))


def status(
    json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="As in a normal run.")] = None,
) -> None:
    """Tell which hosts an agent started here would be reported to, and why; only the terminal is asked who it is.

    Example:
      lifecycle-wrap status
    """
    import os
    import sys

    from lifecycle_wrap.config import load_config

    from .status import host_status
    from .terminal_status import ask_terminal

    loaded, problems = load_config(config, os.environ)
    for problem in problems:
        print(problem, file=sys.stderr)
    found = host_status(loaded, os.environ, ask_terminal() if sys.stdout.isatty() else None)
    print(found.to_json() if json else found.to_text())


def reset() -> None:
    """Repair the terminal after a program that was killed: its modes, its keys, its colours; nothing is erased.

    The cursor goes to a new line at the bottom, below what the program has drawn.

    Example:
      lifecycle-wrap reset
    """
    import os

    from lifecycle_wrap.terminal.reset import reset_terminal

    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        terminal = 0
    try:
        reset_terminal(terminal, os.environ)
    except OSError as error:
        raise fail(f"reset: there is no terminal ({error.strerror}); run it in the one to be repaired") from None


def record(
    file: Annotated[Path, typer.Argument(metavar="FILE.cast", help="Where the asciicast v2 goes.")],
    agent: Annotated[list[str], typer.Argument(metavar="-- AGENT [ARGS]...", help="The agent and its arguments.")],
    input: Annotated[bool, typer.Option("--input", help="Record what is typed too.")] = False,
    annotate: Annotated[bool, typer.Option("--annotate", help="Set the derived states as markers.")] = False,
    scrub: Annotated[bool, typer.Option("--scrub", help="Replace home, user, host and e-mail addresses.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="MB", help="Where the recording ends.")] = 100,
    marker_key: Annotated[
        str,
        typer.Option("--marker-key", metavar="F1..F12", help="This key sets a marker and does not reach the agent."),
    ] = "",
    config: Annotated[str | None, typer.Option("--config", metavar="FILE", help="As in a normal run.")] = None,
    profile: ProfileOption = "",
) -> None:
    """Run an agent as usual and record it as an asciicast.

    Examples:
      lifecycle-wrap record session.cast -- claude
      lifecycle-wrap record --annotate --scrub turn.cast -- claude
    """
    from lifecycle_wrap.arguments import Options
    from lifecycle_wrap.recordings.recorder import MARKER_KEYS, RecorderOptions

    from . import record as recording

    if marker_key and marker_key not in MARKER_KEYS:
        raise fail(f"--marker-key: {marker_key!r} is no key; use one of F1 to F12", USAGE_ERROR)
    recorder = RecorderOptions(
        file, input=input, annotate=annotate, scrub=scrub, limit=limit << 20, marker_key=marker_key
    )
    options = Options(config=config, profile=profile or None)
    raise typer.Exit(recording.record(options, recorder, agent, overwrite=overwrite))


for command in (replay, demo, status, reset, record):
    add(app, command)
cli_profiles.add_to(app)
cli_sessions.add_to(app)
cli_setup.add_to(app)
