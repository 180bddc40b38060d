"""The commands that look at rules: `explain` and `profiles`.

Owns their options, help and exit statuses; the work is done by the module that each names.
"""

from __future__ import annotations

import json as json_format
import os
from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253  # this module is only imported once no agent waits

from .command_line import USAGE_ERROR, add, fail

RecordingPath = Annotated[Path, typer.Argument(metavar="FILE.cast[.gz]", help="An asciicast v2 or v3 recording.")]
ProfileOption = Annotated[str, typer.Option("--profile", metavar="NAME", help="Use this profile instead of a guess.")]
ScreenOption = Annotated[bool, typer.Option("--no-screen", help="Look at signals only.")]
SignalsOption = Annotated[
    bool, typer.Option("--no-signals", help="Look at the screen only: titles, 9;4, 7501, notifications, BEL left out.")
]


def explain(
    file: RecordingPath,
    at: Annotated[
        float | None, typer.Option("--at", metavar="SECONDS", min=0, help="Only the state at that time.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object per state.")] = False,
    profile: ProfileOption = "",
    no_screen: ScreenOption = False,
    no_signals: SignalsOption = False,
) -> None:
    """Tell why each state of a recording is what it is: the rule, the evidence it used, and the rules it beat.

    The evidence is told with its age and, cut to 200 characters, with its text: that is content of the recording.
    Live, `lifecycle-wrap --explain FILE -- AGENT` writes the same at each change of state.

    Examples:
      lifecycle-wrap explain demo.cast
      lifecycle-wrap explain --at 12.5 --json demo.cast
    """
    from lifecycle_wrap.recordings.progress import with_progress
    from lifecycle_wrap.recordings.recording import RecordingError

    from . import explain as explaining
    from . import replay as replays

    print_reason = explaining.as_json if json else explaining.as_text
    try:
        recording, session = replays.prepare(file, profile, screen=not no_screen, signals=not no_signals)
        if at is not None:
            print(print_reason(explaining.reason_at(with_progress(recording), session, at)))
            return
        for reason in explaining.reasons(with_progress(recording), session):
            print(print_reason(reason))
    except RecordingError as error:
        raise fail(str(error)) from None
    except replays.UnknownProfileError as error:
        raise fail(str(error), USAGE_ERROR) from None


profiles = typer.Typer(
    name="profiles",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at profiles: what is known about each agent, as rules.",
)


def profiles_list(
    json: Annotated[bool, typer.Option("--json", help="One JSON object per profile.")] = False,
) -> None:
    """List the profiles, with the versions that recordings back and where each comes from.

    Yours, in $XDG_CONFIG_HOME/lifecycle-wrap/profiles/, come before the built-in ones of the same name.

    Example:
      lifecycle-wrap profiles list
    """
    from lifecycle_wrap.catalog import user_catalog

    from . import profiles_command as command

    catalog = user_catalog(os.environ)
    listed = command.rows(catalog)
    if json:
        for row in listed:
            print(json_format.dumps(row._asdict(), ensure_ascii=False, separators=(",", ":")))
    else:
        print(command.table(listed))
    if catalog.problems:
        raise fail(f"{catalog.problems[0]} (see lifecycle-wrap profiles check)")


def profiles_show(name: Annotated[str, typer.Argument(metavar="NAME", help="A name of `profiles list`.")]) -> None:
    """Print a profile's TOML: a start for one of your own.

    Example:
      lifecycle-wrap profiles show claude > claude.toml
    """
    from lifecycle_wrap.catalog import user_catalog

    catalog = user_catalog(os.environ)
    try:
        text = catalog.text(name)
    except KeyError:
        raise fail(f"there is no profile {name!r}; known: {', '.join(catalog.names())}", USAGE_ERROR) from None
    print(text, end="")


def profiles_check(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="FILE|NAME", help="What to check; all profiles without.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings fail too.")] = False,
) -> None:
    """Check profiles: errors, rules that can never fire or decide, and rules that prose would fire.

    For the last, each rule over the screen is tried on pages of prose: ordinary answers, code, logs, and answers that
    quote agents' cues in running sentences. A rule that asks for motion, for a signal, for the composer to be away or
    for a place where no prose stands (the cursor's line, the composer) is in no danger.

    Exit status: 0 when all can be used, 1 with an error (or, with --strict, a warning).

    Examples:
      lifecycle-wrap profiles check
      lifecycle-wrap profiles check --strict my-agent.toml
    """
    from lifecycle_wrap.catalog import user_catalog

    from . import profiles_command as command

    catalog = user_catalog(os.environ)
    results = [command.check(target, catalog) for target in targets] if targets else list(command.check_all(catalog))
    for result in results:
        for error in result.errors:
            print(f"error    {error}")
        for warning in result.warnings:
            print(f"warning  {warning}")
    errors = sum(len(result.errors) for result in results)
    warnings = sum(len(result.warnings) for result in results)
    print(f"{len(results)} checked: {errors} errors, {warnings} warnings")
    if errors or (strict and warnings):
        raise typer.Exit(1)


def profiles_test(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of recordings (.cast, .cast.gz).")],
    profile: Annotated[str, typer.Option("--profile", metavar="NAME", help="Use this profile for all of them.")] = "",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell both timelines where they differ.")] = False,
    no_screen: ScreenOption = False,
    no_signals: SignalsOption = False,
) -> None:
    """Score recordings against a profile: the states of a replay against the markers `state:idle|working|blocked`.

    A true change has to be told within 1.5 s (blocked: 0.75 s), and nothing that is not true. `lifecycle-wrap record
    --annotate` makes recordings with markers; mend them where the derived state was wrong.

    Exit status: 0 when every recording is told right, 1 otherwise.

    Examples:
      lifecycle-wrap profiles test recordings/
      lifecycle-wrap profiles test -v --profile my-agent recordings/my-agent
    """
    from lifecycle_wrap.catalog import user_catalog
    from lifecycle_wrap.recordings.scoring import difference

    from . import profiles_command as command

    catalog = user_catalog(os.environ)
    if profile and profile not in catalog.names():
        known = ", ".join(catalog.names())
        raise fail(f"--profile: there is no profile {profile!r}; known: {known}", USAGE_ERROR)
    if not folder.is_dir():
        raise fail(f"{folder}: no such folder; give a folder of .cast files", USAGE_ERROR)
    chosen = catalog.get(profile) if profile else None
    results = []
    for scored in command.scores(folder, catalog, chosen, screen=not no_screen, signals=not no_signals):
        results.append(scored)
        print(command.score_row(scored))
        if verbose and scored.comparison is not None and not scored.passed:
            print(difference(scored.comparison, screen=not no_screen, signals=not no_signals))
    if not results:
        raise fail(f"{folder}: has no recording with a marker state:...; see lifecycle-wrap record --annotate")
    scores = [scored.comparison.score for scored in results if scored.comparison is not None]
    hits, owed = sum(score.hits for score in scores), sum(score.transitions for score in scores)
    print(f"{len(results)} recordings: {hits} of {owed} changes in time, {sum(len(s.false) for s in scores)} false")
    if not all(scored.passed for scored in results):
        raise typer.Exit(1)


def add_to(app: typer.Typer) -> None:
    """Add the commands to the app."""
    add(app, explain)
    for command, name in (
        (profiles_list, "list"),
        (profiles_show, "show"),
        (profiles_check, "check"),
        (profiles_test, "test"),
    ):
        add(profiles, command, name)
    app.add_typer(profiles)
