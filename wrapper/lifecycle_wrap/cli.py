"""The command line of everything but a run: typer's app.

Owns options, their help and the exit statuses; the work is done by the module that each command names. Starting an
agent does not come through here (`__main__` goes straight to `launch`), so this may import what it likes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253  # this module is only imported once no agent waits

from . import __version__

USAGE_ERROR = 2

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
)


def fail(text: str, status: int = 1) -> typer.Exit:
    """Print one line on stderr and return the exit to raise."""
    print(f"lifecycle-wrap: {text}", file=sys.stderr)
    return typer.Exit(status)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lifecycle-wrap {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


RecordingPath = Annotated[Path, typer.Argument(metavar="FILE.cast[.gz]", help="An asciicast v2 or v3 recording.")]
ProfileOption = Annotated[str, typer.Option("--profile", metavar="NAME", help="Use this profile instead of a guess.")]
ScreenOption = Annotated[bool, typer.Option("--no-screen", help="Look at signals only.")]
SignalsOption = Annotated[
    bool, typer.Option("--no-signals", help="Look at the screen only: titles, 9;4, 7501, notifications, BEL left out.")
]


@app.command()
def replay(
    file: RecordingPath,
    json: Annotated[bool, typer.Option("--json", help="One JSON object per state change.")] = False,
    profile: ProfileOption = "",
    no_screen: ScreenOption = False,
    no_signals: SignalsOption = False,
) -> None:
    """Tell the states of a recording, as a live run would have.

    Example: lifecycle-wrap replay --json demo.cast
    """
    from . import replay as replays
    from .recording import RecordingError

    try:
        recording, session = replays.prepare(file, profile, screen=not no_screen, signals=not no_signals)
        for change in replays.state_changes(recording, session):
            print(replays.as_json(change) if json else replays.as_row(change))
    except (RecordingError, replays.UnknownProfileError) as error:
        raise fail(str(error)) from None


@app.command()
def demo(
    auto: Annotated[bool, typer.Option("--auto", help="Let the demo agent play its user too.")] = False,
) -> None:
    """Run a small scripted agent under the wrapper, and show what a host around it is told.

    Example: lifecycle-wrap demo
    """
    from .demo import demo as run_demo

    raise typer.Exit(run_demo(auto=auto))
