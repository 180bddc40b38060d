r"""The format of a profile, and the loader that turns its text into a `Profile` or into one clear error.

Grammar, in TOML (`?` may be missing):

    schema = 1
    name = "claude"                      # [a-z0-9-], unique
    title? = "Claude Code"               # for people
    extends? = "base"                    # rules and settings of another profile come after its own; "" for none
    verified? = ["2.1.332"]              # versions whose recordings pass; empty: written from facts alone
    follow? = true                       # a shell: the profile of the program in the foreground holds while it runs

    [match]?                             # which command lines it is for
    commands = ["claude"]                # the basename of the command, without .js, .py, .exe
    packages? = ["@scope/name"]          # npx, bunx, pnpm dlx, uvx, pipx run PACKAGE
    modules? = ["aider"]                 # python -m MODULE

    [session]?                           # how to resume, see `resume_argv` in DESIGN.md
    options? = ["--resume", "-r"]        # options whose value is the session's id
    resume? = ["claude", "--resume", "{session_id}"]

    [timing]?
    settle? = 1.0                        # seconds that working -> idle must stand

    [composer]?                          # the agent's input area; [[composer]] where it has several shapes
    prompt = '^❯'                        # found in its first row
    not_prompt? = '^❯ \d+\.'
    footer? = '^ {2}'                    # found in every row below it
    label? = '^── input'                 # with frame "rules": found in the rule above it
    frame? = "rules"                     # rules, top-rule, box, bar, none: see ComposerShape in layout.py

    [answered]?                          # what it leaves out where OSC 7501 is answered: see answered.py

    [[rule]]*
    id = "permission"
    state = "blocked"                    # idle, working, blocked, or hold
    kind? = "permission"                 # with blocked: permission, question, auth
    message? = "Retrying"                # of the fixed vocabulary
    priority? = 850
    settle? = 0.3                        # overrides [timing] for a change to idle by this rule
    background?, failed? = true
    all? any? none? = [ CONDITION, ... ]

A CONDITION is described in conditions.py.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lifecycle_detectors.events import Message
from lifecycle_detectors.layout import FRAMES, ComposerShape
from lifecycle_detectors.put_back import Answered
from lifecycle_detectors.rules import Rule, default_priority
from lifecycle_detectors.states import State

from .answered import read_answered
from .conditions import KINDS, read_conditions
from .table import ProfileError, Table

SCHEMA = 1
MAX_RULES = 128
DEFAULT_SETTLE = 1.0
STATES: dict[str, State | None] = {
    "idle": State.IDLE,
    "working": State.WORKING,
    "blocked": State.BLOCKED,
    "hold": None,
}
MAX_LENGTH = 64 << 10
"""Characters of a profile; the longest of ours has 11,000."""
MOST_DOTS = 250
"""Dots in one line, and so parts of one key: TOML's parser takes time with their square."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about an agent.

    Attributes:
        name, title: for rules' names and for people.
        verified: versions whose recordings pass; empty where it was written from facts alone.
        follow: the profile of the program in the foreground holds while it runs.
        commands, packages, modules: which command lines it is for.
        session_options: options whose value is the agent's session id.
        resume: the command that resumes a session, `{session_id}` in it, or empty.
        settle: seconds that a change from working to idle must stand.
        composers: the shapes that the input area may have.
        rules: ordered by falling priority.
        answered: what it leaves out where its OSC 7501 query is answered, or None.
    """

    name: str
    title: str
    verified: tuple[str, ...]
    follow: bool
    commands: frozenset[str]
    packages: frozenset[str]
    modules: frozenset[str]
    session_options: tuple[str, ...]
    resume: tuple[str, ...]
    settle: float
    composers: tuple[ComposerShape, ...]
    rules: tuple[Rule, ...]
    answered: Answered | None

    @property
    def needs_screen(self) -> bool:
        """Whether any rule looks at the screen."""
        return any(
            condition.subject in ("region", "composer", "alternate", "cursor")
            for r in self.rules
            for condition in r.conditions
        )

    @property
    def is_verified(self) -> bool:
        """Whether recordings of real versions back it."""
        return bool(self.verified)


Parent = Callable[[str], "Profile"]


def parse_profile(text: str, file: str, parent: Parent, *, trusted: bool = False) -> Profile:
    """Read a profile.

    Args:
        text: the TOML text.
        file: its name for errors.
        parent: finds the profile that it extends.
        trusted: it is one of ours, see `compile_pattern`.

    Raises:
        ProfileError: with file, place, problem and remedy in one line.
    """
    if len(text) > MAX_LENGTH:
        raise ProfileError(file, "", f"has more than {MAX_LENGTH} characters", "leave out what it does not need")
    if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
        raise ProfileError(file, "", f"has more than {MOST_DOTS} dots in a line", "no key has more than two parts")
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of many digits, or a value nested deeply
        raise ProfileError(file, "", f"is not valid TOML ({error})", "mend the syntax") from None
    table = Table(file, "", data, trusted=trusted)
    if table.take("schema", int, 0) != SCHEMA:
        raise table.error("schema", "is not 1", f"write schema = {SCHEMA}")
    name = table.text("name")
    if not _NAME.fullmatch(name):
        raise table.error("name", f"is {name!r}", "use lower-case letters, digits and hyphens")
    title = table.text("title", name)
    extends = table.text("extends", "" if name == "base" else "base")
    base = _find_parent(table, parent, extends) if extends else None
    commands, packages, modules = _match(table)
    session_options, resume = _session(table)
    profile = Profile(
        name=name,
        title=title,
        verified=table.strings("verified"),
        follow=table.take("follow", bool, False),
        settle=_timing(table, base),
        composers=_composers(table, base),
        rules=_rules(table, base),
        answered=_answered(table, base),
        commands=commands,
        packages=packages,
        modules=modules,
        session_options=session_options,
        resume=resume,
    )
    table.finish()
    return profile


def _find_parent(table: Table, parent: Parent, extends: str) -> Profile:
    try:
        return parent(extends)
    except KeyError:
        raise table.error("extends", f"names no profile: {extends!r}", "see `lifecycle-wrap profiles list`") from None


def _sub(table: Table, key: str) -> Table | None:
    value = table.take(key, dict, None)
    return None if value is None else table.inner(key, value)


def _match(table: Table) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    match = _sub(table, "match")
    if match is None:
        return frozenset(), frozenset(), frozenset()
    commands, packages, modules = (frozenset(match.strings(key)) for key in ("commands", "packages", "modules"))
    match.finish()
    return commands, packages, modules


def _session(table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    session = _sub(table, "session")
    if session is None:
        return (), ()
    options, resume = session.strings("options"), session.strings("resume")
    session.finish()
    return options, resume


def _answered(table: Table, base: Profile | None) -> Answered | None:
    answered = _sub(table, "answered")
    if answered is None:
        return None if base is None else base.answered
    return read_answered(answered, _sub(answered, "titles"), _sub(answered, "unfocused"))


def _timing(table: Table, base: Profile | None) -> float:
    timing = _sub(table, "timing")
    settle = None
    if timing is not None:
        settle = timing.seconds("settle")
        timing.finish()
    if settle is not None:
        return settle
    return DEFAULT_SETTLE if base is None else base.settle


def _composers(table: Table, base: Profile | None) -> tuple[ComposerShape, ...]:
    if not table.has("composer"):
        return () if base is None else base.composers
    raw: Any = table.take("composer", (dict, list), {})
    shapes = raw if isinstance(raw, list) else [raw]
    return tuple(_composer(table.inner("composer", shape)) for shape in shapes)


def _composer(composer: Table) -> ComposerShape:
    frame = composer.text("frame", "none")
    if frame not in FRAMES:
        raise composer.error("frame", f"is {frame!r}", f"use {', '.join(sorted(FRAMES))}")
    if not composer.has("prompt"):
        raise composer.error("prompt", "is missing", "give the pattern of the input area's first row")
    shape = ComposerShape(
        prompt=composer.pattern("prompt"),
        not_prompt=composer.pattern("not_prompt") if composer.has("not_prompt") else None,
        frame=frame,
        footer=composer.pattern("footer") if composer.has("footer") else None,
        label=composer.pattern("label") if composer.has("label") else None,
    )
    composer.finish()
    return shape


def _rules(table: Table, base: Profile | None) -> tuple[Rule, ...]:
    raw: list[Any] = table.take("rule", list, [])
    if len(raw) > MAX_RULES:
        raise table.error("rule", f"has {len(raw)} entries", f"at most {MAX_RULES}")
    rules = [_rule(table, index, value) for index, value in enumerate(raw)]
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise table.error(f"rule {rule.id!r}", "is there twice", "give each rule an id of its own")
        seen.add(rule.id)
    inherited = [rule for rule in (base.rules if base else ()) if rule.id not in seen]
    ordered = sorted(rules + inherited, key=lambda rule: -rule.priority)
    return tuple(sorted(ordered, key=lambda rule: rule.state is not None))


def _rule(parent: Table, index: int, value: Any) -> Rule:
    table = parent.inner(f"rule {index + 1}", value)
    identity = table.text("id")
    if not _NAME.fullmatch(identity):
        raise table.error("id", f"is {identity!r}", "use lower-case letters, digits and hyphens")
    table.place = f"rule {identity!r}"
    state_name = table.text("state")
    if state_name not in STATES:
        raise table.error("state", f"is {state_name!r}", f"use {', '.join(STATES)}")
    state = STATES[state_name]
    all_of, any_of, none_of = (read_conditions(table, key) for key in ("all", "any", "none"))
    if not all_of and not any_of:
        raise table.error("all", "is empty", "a rule needs at least one condition in `all` or `any`")
    kind = table.text("kind")
    if kind not in KINDS or (kind and state is not State.BLOCKED):
        raise table.error("kind", f"is {kind!r}", "use permission, question or auth, with state blocked only")
    rule = Rule(
        id=identity,
        state=state,
        priority=table.take("priority", int, -1),
        all_of=all_of,
        any_of=any_of,
        none_of=none_of,
        message=_message(table, state, kind),
        kind=kind,
        background=table.take("background", bool, False),
        failed=table.take("failed", bool, False),
        settle=table.seconds("settle"),
    )
    table.finish()
    if rule.priority < 0:
        rule = replace(rule, priority=default_priority(rule.source, state))
    return rule


def _message(table: Table, state: State | None, kind: str) -> Message:
    text = table.text("message")
    if text:
        if text not in set(Message) or state in (State.IDLE, None):
            raise table.error("message", f"is {text!r}", "use the vocabulary of DESIGN.md, with working or blocked")
        return Message(text)
    if state is State.BLOCKED:
        return KINDS[kind]
    return Message.WORKING if state is State.WORKING else Message.NONE
