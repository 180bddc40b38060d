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

A CONDITION is a table with one subject and what narrows it:

    { title = 'regex', fresh? = 2.5, still? = 0.5, soon? = 30, moving? = 2.5, after_submit? = true }
    { progress = ["none"], fresh?, after_submit? }             # none normal error indeterminate paused
    { status = ["working"], kind? = ["permission"], text? = 'regex', fresh?, after_submit? }
    { notification = 'regex', fresh?, after_submit? }
    { bell = true, fresh?, after_submit? }
    { prompt = ["A"], fresh?, after_submit? }                  # OSC 133 A B C D
    { region = "dialog", line? = 'regex' | text? = 'regex' | row? = 'regex', still? = 1.0, moving? = 2.5,
      spinning? = 2.5, fresh?, before_submit? = true, since_submit? = 0.5 }
    { composer = true } { alternate = true } { cursor = true } # false: it must not be so; cursor: it is visible
    { startup = true }                                         # the agent has not been idle yet
    { unblocked = true, fresh? }                               # a dialog stood and is gone
    { quiet = 1.0 } { flow = 1.0 }                             # nothing printed, or printed all the time, for so long
    { line_editor = true, still?, fresh?, after_submit?, within? }  # bracketed paste (DECSET 2004): on, or off
    { standing = ["rule-id"] }                                 # one of these rules last spoke for the published state
    { input = ["submit"], fresh?, after_submit? }              # key submit interrupt
    { entered = ["rule-id"], fresh?, pending? = true }         # Enter after typing, while one of these rules spoke;
                                                               # pending: the agent has not come to rest since

`line` is searched in each logical line of the region, `text` in the whole region as one line (both without box sides
and frame rows, each run of blanks made one), `row` in each row as it is rendered; none of them: the region has text,
unless `still` is asked. Regions: see layout.py. All patterns are Python regular expressions, at most
`patterns.MAX_PATTERN` characters.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from lifecycle_detectors.events import Message
from lifecycle_detectors.layout import FRAMES, REGIONS, ComposerShape
from lifecycle_detectors.put_back import Answered
from lifecycle_detectors.rules import ANY, SUBJECTS, Condition, Rule, default_priority
from lifecycle_detectors.states import State

from .answered import read_answered
from .patterns import PatternProblem, compile_pattern

SCHEMA = 1
MAX_RULES = 128
MAX_CONDITIONS = 32
MAX_SECONDS = 3600.0
DEFAULT_SETTLE = 1.0
STATES: dict[str, State | None] = {
    "idle": State.IDLE,
    "working": State.WORKING,
    "blocked": State.BLOCKED,
    "hold": None,
}
KINDS: dict[str, Message] = {
    "permission": Message.APPROVAL,
    "question": Message.USER_INPUT,
    "auth": Message.SIGN_IN,
    "": Message.EXTERNAL_INPUT,
}
PROGRESS = frozenset({"none", "normal", "error", "indeterminate", "paused"})
STATUS = frozenset({"idle", "working", "done", "blocked", "error"})
PROMPTS = frozenset("ABCD")
INPUTS = frozenset({"key", "submit", "command", "interrupt"})
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class ProfileError(Exception):
    """A profile that cannot be used. `str()` is one line: file, place, what is wrong, what to do."""

    def __init__(self, file: str, place: str, problem: str, remedy: str) -> None:
        where = f"{file}: {place}" if place else file
        super().__init__(f"{where}: {problem}; {remedy}")


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


T = TypeVar("T")
Parent = Callable[[str], "Profile"]


class _Table:
    """A TOML table that is read key by key; what is left over is an unknown key."""

    def __init__(self, file: str, place: str, value: Any) -> None:
        self.file = file
        self.place = place
        if not isinstance(value, Mapping):
            raise self.error("", "is not a table", "write it as a TOML table")
        self._left = dict(value)
        self._known: list[str] = []

    def error(self, key: str, problem: str, remedy: str) -> ProfileError:
        place = ".".join(part for part in (self.place, key) if part)
        return ProfileError(self.file, place, problem, remedy)

    def take(self, key: str, kind: type[T] | tuple[type[T], ...], default: T) -> T:
        self._known.append(key)
        if key not in self._left:
            return default
        value = self._left.pop(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            names = kind.__name__ if isinstance(kind, type) else " or ".join(k.__name__ for k in kind)
            raise self.error(key, f"is a {type(value).__name__}", f"give a {names}")
        return value

    def has(self, key: str) -> bool:
        return key in self._left

    def text(self, key: str, default: str = "") -> str:
        return self.take(key, str, default)

    def seconds(self, key: str) -> float | None:
        value = self.take(key, (int, float), None)
        if value is None:
            return None
        if isinstance(value, bool) or not 0 <= value <= MAX_SECONDS:
            raise self.error(key, f"is {value}", f"give seconds from 0 to {MAX_SECONDS:g}")
        return float(value)

    def strings(self, key: str) -> tuple[str, ...]:
        values: list[Any] = self.take(key, list, [])
        for value in values:
            if not isinstance(value, str) or not value:
                raise self.error(key, "has an entry that is no text", "give a list of non-empty strings")
        return tuple(values)

    def names(self, key: str, allowed: frozenset[str]) -> frozenset[str]:
        values = self.strings(key)
        for value in values:
            if value not in allowed:
                raise self.error(key, f"has unknown value {value!r}", f"use {', '.join(sorted(allowed))}")
        if not values:
            raise self.error(key, "is empty", f"use {', '.join(sorted(allowed))}")
        return frozenset(values)

    def pattern(self, key: str) -> re.Pattern[str]:
        text = self.text(key)
        try:
            return compile_pattern(text)
        except PatternProblem as problem:
            raise self.error(key, str(problem), problem.remedy) from None

    def finish(self) -> None:
        for key in self._left:
            near = difflib.get_close_matches(key, self._known, 1)
            remedy = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(sorted(self._known))}"
            raise self.error(key, "is not a known key", remedy)


def parse_profile(text: str, file: str, parent: Parent) -> Profile:
    """Read a profile.

    Args:
        text: the TOML text.
        file: its name for errors.
        parent: finds the profile that it extends.

    Raises:
        ProfileError: with file, place, problem and remedy in one line.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(file, "", f"is not valid TOML ({error})", "mend the syntax") from None
    table = _Table(file, "", data)
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


def _find_parent(table: _Table, parent: Parent, extends: str) -> Profile:
    try:
        return parent(extends)
    except KeyError:
        raise table.error("extends", f"names no profile: {extends!r}", "see `lifecycle-wrap profiles list`") from None


def _sub(table: _Table, key: str) -> _Table | None:
    value = table.take(key, dict, None)
    return None if value is None else _Table(table.file, key, value)


def _match(table: _Table) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    match = _sub(table, "match")
    if match is None:
        return frozenset(), frozenset(), frozenset()
    commands, packages, modules = (frozenset(match.strings(key)) for key in ("commands", "packages", "modules"))
    match.finish()
    return commands, packages, modules


def _session(table: _Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    session = _sub(table, "session")
    if session is None:
        return (), ()
    options, resume = session.strings("options"), session.strings("resume")
    session.finish()
    return options, resume


def _answered(table: _Table, base: Profile | None) -> Answered | None:
    answered = _sub(table, "answered")
    if answered is None:
        return None if base is None else base.answered
    return read_answered(answered, _sub(answered, "titles"), _sub(answered, "unfocused"))


def _timing(table: _Table, base: Profile | None) -> float:
    timing = _sub(table, "timing")
    settle = None
    if timing is not None:
        settle = timing.seconds("settle")
        timing.finish()
    if settle is not None:
        return settle
    return DEFAULT_SETTLE if base is None else base.settle


def _composers(table: _Table, base: Profile | None) -> tuple[ComposerShape, ...]:
    if not table.has("composer"):
        return () if base is None else base.composers
    raw: Any = table.take("composer", (dict, list), {})
    shapes = raw if isinstance(raw, list) else [raw]
    return tuple(_composer(_Table(table.file, "composer", shape)) for shape in shapes)


def _composer(composer: _Table) -> ComposerShape:
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


def _rules(table: _Table, base: Profile | None) -> tuple[Rule, ...]:
    raw: list[Any] = table.take("rule", list, [])
    if len(raw) > MAX_RULES:
        raise table.error("rule", f"has {len(raw)} entries", f"at most {MAX_RULES}")
    rules = [_rule(table.file, index, value) for index, value in enumerate(raw)]
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise table.error(f"rule {rule.id!r}", "is there twice", "give each rule an id of its own")
        seen.add(rule.id)
    inherited = [rule for rule in (base.rules if base else ()) if rule.id not in seen]
    ordered = sorted(rules + inherited, key=lambda rule: -rule.priority)
    return tuple(sorted(ordered, key=lambda rule: rule.state is not None))


def _rule(file: str, index: int, value: Any) -> Rule:
    table = _Table(file, f"rule {index + 1}", value)
    identity = table.text("id")
    if not _NAME.fullmatch(identity):
        raise table.error("id", f"is {identity!r}", "use lower-case letters, digits and hyphens")
    table.place = f"rule {identity!r}"
    state_name = table.text("state")
    if state_name not in STATES:
        raise table.error("state", f"is {state_name!r}", f"use {', '.join(STATES)}")
    state = STATES[state_name]
    all_of, any_of, none_of = (_conditions(table, key) for key in ("all", "any", "none"))
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


def _message(table: _Table, state: State | None, kind: str) -> Message:
    text = table.text("message")
    if text:
        if text not in set(Message) or state in (State.IDLE, None):
            raise table.error("message", f"is {text!r}", "use the vocabulary of DESIGN.md, with working or blocked")
        return Message(text)
    if state is State.BLOCKED:
        return KINDS[kind]
    return Message.WORKING if state is State.WORKING else Message.NONE


def _conditions(table: _Table, key: str) -> tuple[Condition, ...]:
    raw: list[Any] = table.take(key, list, [])
    if len(raw) > MAX_CONDITIONS:
        raise table.error(key, f"has {len(raw)} conditions", f"at most {MAX_CONDITIONS}")
    return tuple(_condition(table, f"{key}[{index}]", value) for index, value in enumerate(raw))


def _condition(parent: _Table, key: str, value: Any) -> Condition:
    table = _Table(parent.file, f"{parent.place}.{key}", value)
    subjects = [subject for subject in SUBJECTS if table.has(subject)]
    if len(subjects) != 1:
        raise table.error("", f"has {len(subjects)} subjects", f"give exactly one of {', '.join(SUBJECTS)}")
    subject = subjects[0]
    condition = _READERS[subject](table, Condition(SUBJECTS[subject], subject))
    table.finish()
    return condition


def _read_age(table: _Table, condition: Condition) -> Condition:
    return replace(condition, fresh=table.seconds("fresh"), after_submit=table.take("after_submit", bool, False))


def _read_title(table: _Table, condition: Condition) -> Condition:
    still, soon, moving = (table.seconds(key) for key in ("still", "soon", "moving"))
    return _read_age(table, replace(condition, pattern=table.pattern("title"), still=still, soon=soon, moving=moving))


def _read_notification(table: _Table, condition: Condition) -> Condition:
    return _read_age(table, replace(condition, pattern=table.pattern("notification")))


def _read_progress(table: _Table, condition: Condition) -> Condition:
    return _read_age(table, replace(condition, values=table.names("progress", PROGRESS)))


def _read_status(table: _Table, condition: Condition) -> Condition:
    kinds = table.names("kind", frozenset(KINDS)) if table.has("kind") else frozenset()
    text = table.pattern("text") if table.has("text") else ANY
    return _read_age(table, replace(condition, values=table.names("status", STATUS), kinds=kinds, pattern=text))


def _read_prompt(table: _Table, condition: Condition) -> Condition:
    return _read_age(table, replace(condition, values=table.names("prompt", PROMPTS)))


def _read_input(table: _Table, condition: Condition) -> Condition:
    values, still = table.names("input", INPUTS), table.seconds("still")
    return replace(condition, values=values, fresh=table.seconds("fresh"), still=still)


def _read_moment(table: _Table, condition: Condition) -> Condition:
    if not table.take(condition.subject, bool, True):
        remedy = f"write {condition.subject} = true, or put it in `none`"
        raise table.error(condition.subject, "is false", remedy)
    return _read_age(table, condition)


def _read_quiet(table: _Table, condition: Condition) -> Condition:
    return replace(condition, still=table.seconds("quiet"))


def _read_flow(table: _Table, condition: Condition) -> Condition:
    return replace(condition, still=table.seconds("flow"))


def _read_line_editor(table: _Table, condition: Condition) -> Condition:
    still, within = table.seconds("still"), table.seconds("within")
    return _read_age(table, replace(_read_flag(table, condition), still=still, within=within))


def _read_rules(table: _Table, condition: Condition) -> Condition:
    ids = table.strings(condition.subject)
    if not ids:
        raise table.error(condition.subject, "is empty", "give the ids of rules")
    return replace(condition, values=frozenset(ids))


def _read_entered(table: _Table, condition: Condition) -> Condition:
    fresh, pending = table.seconds("fresh"), table.take("pending", bool, False)
    return replace(_read_rules(table, condition), fresh=fresh, pending=pending)


def _read_flag(table: _Table, condition: Condition) -> Condition:
    return replace(condition, expected=table.take(condition.subject, bool, True))


def _read_region(table: _Table, condition: Condition) -> Condition:
    region = table.text("region")
    if region not in REGIONS:
        near = difflib.get_close_matches(region, REGIONS, 1)
        remedy = f"did you mean {near[0]!r}?" if near else f"use {', '.join(sorted(REGIONS))}"
        raise table.error("region", f"is {region!r}", remedy)
    matchers = [key for key in ("line", "text", "row") if table.has(key)]
    if len(matchers) > 1:
        raise table.error(matchers[1], f"stands beside {matchers[0]}", "give one of line, text and row")
    pattern = table.pattern(matchers[0]) if matchers else ANY
    return replace(
        condition,
        region=region,
        flat=matchers == ["text"],
        raw=matchers == ["row"],
        pattern=pattern,
        still=table.seconds("still"),
        moving=table.seconds("moving"),
        spinning=table.seconds("spinning"),
        fresh=table.seconds("fresh"),
        before_submit=table.take("before_submit", bool, False),
        since_submit=table.seconds("since_submit"),
    )


_READERS: dict[str, Callable[[_Table, Condition], Condition]] = {
    "title": _read_title,
    "progress": _read_progress,
    "status": _read_status,
    "notification": _read_notification,
    "bell": _read_moment,
    "prompt": _read_prompt,
    "region": _read_region,
    "composer": _read_flag,
    "alternate": _read_flag,
    "cursor": _read_flag,
    "startup": _read_flag,
    "unblocked": _read_moment,
    "quiet": _read_quiet,
    "flow": _read_flow,
    "line_editor": _read_line_editor,
    "standing": _read_rules,
    "entered": _read_entered,
    "input": _read_input,
}

assert set(_READERS) == set(SUBJECTS)
