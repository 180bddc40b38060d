"""The conditions of a profile's rules: their grammar, and the reader of each.

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
    { input = ["submit"], fresh?, still? }                     # key, submit, command (Enter after a draft that began
                                                               # with a slash), interrupt; still: no key for so long
    { entered = ["rule-id"], fresh?, pending? = true }         # Enter after typing, while one of these rules spoke;
                                                               # pending: the agent has not come to rest since

`line` is searched in each logical line of the region, `text` in the whole region as one line (both without box sides
and frame rows, each run of blanks made one), `row` in each row as it is rendered; none of them: the region has text,
unless `still` is asked. Regions: see layout.py. All patterns are Python regular expressions, at most
`patterns.MAX_PATTERN` characters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lifecycle_detectors.events import Message
from lifecycle_detectors.layout import REGIONS
from lifecycle_detectors.rules import ANY, SUBJECTS, Condition

from .table import Table

MAX_CONDITIONS = 32
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


def read_conditions(table: Table, key: str) -> tuple[Condition, ...]:
    """Read a rule's list of conditions.

    Raises:
        ProfileError: one of them cannot be used.
    """
    raw: list[Any] = table.take(key, list, [])
    if len(raw) > MAX_CONDITIONS:
        raise table.error(key, f"has {len(raw)} conditions", f"at most {MAX_CONDITIONS}")
    return tuple(_condition(table, f"{key}[{index}]", value) for index, value in enumerate(raw))


def _condition(parent: Table, key: str, value: Any) -> Condition:
    table = parent.inner(f"{parent.place}.{key}", value)
    subjects = [subject for subject in SUBJECTS if table.has(subject)]
    if len(subjects) != 1:
        raise table.error("", f"has {len(subjects)} subjects", f"give exactly one of {', '.join(SUBJECTS)}")
    subject = subjects[0]
    condition = _READERS[subject](table, Condition(SUBJECTS[subject], subject))
    table.finish()
    return condition


def _read_age(table: Table, condition: Condition) -> Condition:
    return replace(condition, fresh=table.seconds("fresh"), after_submit=table.take("after_submit", bool, False))


def _read_title(table: Table, condition: Condition) -> Condition:
    still, soon, moving = (table.seconds(key) for key in ("still", "soon", "moving"))
    return _read_age(table, replace(condition, pattern=table.pattern("title"), still=still, soon=soon, moving=moving))


def _read_notification(table: Table, condition: Condition) -> Condition:
    return _read_age(table, replace(condition, pattern=table.pattern("notification")))


def _read_progress(table: Table, condition: Condition) -> Condition:
    return _read_age(table, replace(condition, values=table.names("progress", PROGRESS)))


def _read_status(table: Table, condition: Condition) -> Condition:
    kinds = table.names("kind", frozenset(KINDS)) if table.has("kind") else frozenset()
    text = table.pattern("text") if table.has("text") else ANY
    return _read_age(table, replace(condition, values=table.names("status", STATUS), kinds=kinds, pattern=text))


def _read_prompt(table: Table, condition: Condition) -> Condition:
    return _read_age(table, replace(condition, values=table.names("prompt", PROMPTS)))


def _read_input(table: Table, condition: Condition) -> Condition:
    values, still = table.names("input", INPUTS), table.seconds("still")
    return replace(condition, values=values, fresh=table.seconds("fresh"), still=still)


def _read_moment(table: Table, condition: Condition) -> Condition:
    if not table.take(condition.subject, bool, True):
        remedy = f"write {condition.subject} = true, or put it in `none`"
        raise table.error(condition.subject, "is false", remedy)
    return _read_age(table, condition)


def _read_quiet(table: Table, condition: Condition) -> Condition:
    return replace(condition, still=table.seconds("quiet"))


def _read_flow(table: Table, condition: Condition) -> Condition:
    return replace(condition, still=table.seconds("flow"))


def _read_line_editor(table: Table, condition: Condition) -> Condition:
    still, within = table.seconds("still"), table.seconds("within")
    return _read_age(table, replace(_read_flag(table, condition), still=still, within=within))


def _read_rules(table: Table, condition: Condition) -> Condition:
    ids = table.strings(condition.subject)
    if not ids:
        raise table.error(condition.subject, "is empty", "give the ids of rules")
    return replace(condition, values=frozenset(ids))


def _read_entered(table: Table, condition: Condition) -> Condition:
    fresh, pending = table.seconds("fresh"), table.take("pending", bool, False)
    return replace(_read_rules(table, condition), fresh=fresh, pending=pending)


def _read_flag(table: Table, condition: Condition) -> Condition:
    return replace(condition, expected=table.take(condition.subject, bool, True))


def _read_region(table: Table, condition: Condition) -> Condition:
    region = table.text("region")
    if region not in REGIONS:
        import difflib

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


_READERS: dict[str, Callable[[Table, Condition], Condition]] = {
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
