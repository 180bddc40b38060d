"""The command line up to the agent's name, read without a parser library.

Owns the line between our words and the agent's: options of ours come before the agent's name only, the first word that
is neither an option nor one of our commands is the agent, and after `--` everything is the agent's.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .recordings.recorder import RecorderOptions

COMMANDS = frozenset(
    (
        "status",
        "replay",
        "explain",
        "record",
        "profiles",
        "ps",
        "watch",
        "wait",
        "tail",
        "demo",
        "doctor",
        "config",
        "shell-init",
        "reset",
        "completion",
    )
)
HELP = frozenset(("-h", "--help", "--version", "--install-completion", "--show-completion"))
SWITCHES = frozenset(("--strict", "--debug"))
VALUES = frozenset(("--config", "--profile", "--explain", "--headless"))
HEADLESS = "report"


class UsageError(Exception):
    """A command line that cannot be understood; the text says what and the remedy."""


class Options:
    """Our options for one run.

    Attributes:
        config: path of the configuration file, or None for the usual place.
        profile: name of the profile to use, or None to choose by the command.
        strict: refuse to start on an error in the configuration instead of going on without it.
        debug: write more to the log.
        explain: file to write the reason of each change of state to, or None.
        headless: "report" to report an agent without a terminal by its process life, or None.
        record: what to record, or None; only `lifecycle-wrap record` sets it.
    """

    __slots__ = ("config", "debug", "explain", "headless", "profile", "record", "strict")

    def __init__(
        self,
        *,
        config: str | None = None,
        profile: str | None = None,
        strict: bool = False,
        debug: bool = False,
        explain: str | None = None,
    ) -> None:
        self.config = config
        self.profile = profile
        self.strict = strict
        self.debug = debug
        self.explain = explain
        self.headless: str | None = None
        self.record: RecorderOptions | None = None


def parse(arguments: Sequence[str]) -> tuple[Options, list[str]] | None:
    """Split a command line (without the program's name) into our options and the agent's command line.

    A leading `run` is our own word for what happens without it.

    Returns:
        The options and the agent's argv, or None when the line is not a run but one of our commands, or asks for help.

    Raises:
        UsageError: an unknown option, an option without its value, or no agent after `--`.
    """
    options = Options()
    position = int(arguments[:1] == ["run"])
    while position < len(arguments):
        word = arguments[position]
        if word == "--":
            agent = list(arguments[position + 1 :])
            if not agent:
                raise UsageError("no agent after --; usage: lifecycle-wrap [options] -- AGENT [ARGS...]")
            return options, agent
        if not word.startswith("-") or word == "-":
            return None if word in COMMANDS else (options, list(arguments[position:]))
        if word in HELP:
            return None
        position += 1
        name, equals, value = word.partition("=")
        if name in VALUES:
            if not equals:
                if position == len(arguments):
                    raise UsageError(f"option {name} needs a value; see lifecycle-wrap --help")
                value = arguments[position]
                position += 1
            if word.startswith("--headless") and value != HEADLESS:
                raise UsageError(f"--headless is {value!r}; the one value there is: {HEADLESS}")
            setattr(options, name[2:], value)
        elif word in SWITCHES:
            setattr(options, word[2:], True)
        else:
            raise UsageError(f"unknown option {word}; our options come before the agent, see lifecycle-wrap --help")
    if arguments:
        raise UsageError("no agent given; usage: lifecycle-wrap [options] -- AGENT [ARGS...]")
    return None
