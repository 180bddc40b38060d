"""Why a state is what it is: the rule that spoke, what it looked at, and the rules it beat.

Owns the words and the excerpts of an explanation. Must not decide anything, and must not be used where nobody asked: an
excerpt is content (words of the agent or the user), cut and safe to print.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .evidence import NEVER, Evidence
from .profiles.format import Profile
from .rules import ANY, INPUTS, Condition, Moment, Rule
from .states import State

EXCERPT = 200
"""Characters of an excerpt: a line or two, enough to recognise what it was."""


class Finding(NamedTuple):
    """What one condition of a rule found.

    Attributes:
        condition: the condition.
        role: `all`, `any` or `none`: where it stands in the rule.
        holds: whether it held.
        age: seconds since its evidence was set, or its region last changed; None where it has no age or never came.
        excerpt: what it looked at: content, at most `EXCERPT` printable characters.
    """

    condition: Condition
    role: str
    holds: bool
    age: float | None
    excerpt: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the state is what it is at one moment.

    Attributes:
        at: the moment.
        profile: whose rules were asked.
        state: the published state.
        standing: the id of the rule that last spoke for it, or empty.
        rule: the rule that speaks now, or None.
        beaten: rules of lower priority that hold too, in their order.
        evidence: what they look at.
    """

    at: float
    profile: Profile
    state: State
    standing: str
    rule: Rule | None
    beaten: tuple[Rule, ...]
    evidence: Evidence

    def rule_of(self, identity: str) -> Rule | None:
        """Return the profile's rule of that id."""
        return next((rule for rule in self.profile.rules if rule.id == identity), None)

    def findings(self, rule: Rule) -> tuple[Finding, ...]:
        """Return what each of a rule's conditions finds now, in the rule's order."""
        roles = (("all", rule.all_of), ("any", rule.any_of), ("none", rule.none_of))
        return tuple(
            _finding(condition, role, self.evidence, self.at) for role, conditions in roles for condition in conditions
        )


def printable(text: str, limit: int = EXCERPT) -> str:
    """Return text that can do no harm to a terminal: no control or format characters, blanks made one, cut."""
    kept = (" " if character.isspace() else character for character in text)
    safe = "".join(c for c in kept if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    words = " ".join(safe.split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def wording(condition: Condition) -> str:
    """Return a condition in the words of a profile, without the braces around it."""
    if condition.subject == "region":
        parts = [f'region = "{condition.region}"']
        if condition.pattern is not ANY:
            kind = "text" if condition.flat else "row" if condition.raw else "line"
            parts.append(f"{kind} = '{condition.pattern.pattern}'")
    elif condition.subject in ("quiet", "flow"):
        return f"{condition.subject} = {condition.still:g}"
    elif condition.values:
        parts = [f"{condition.subject} = [{', '.join(sorted(condition.values))}]"]
        if condition.kinds:
            parts.append(f"kind = [{', '.join(sorted(condition.kinds))}]")
        if condition.pattern is not ANY:
            parts.append(f"text = '{condition.pattern.pattern}'")
    elif condition.pattern is not ANY:
        parts = [f"{condition.subject} = '{condition.pattern.pattern}'"]
    else:
        parts = [f"{condition.subject} = {str(condition.expected).lower()}"]
    for name in ("fresh", "still", "moving", "spinning", "within", "soon", "since_submit"):
        seconds = getattr(condition, name)
        if seconds is not None:
            parts.append(f"{name} = {seconds:g}")
    parts += [f"{name} = true" for name in ("after_submit", "before_submit") if getattr(condition, name)]
    return ", ".join(parts)


def _finding(condition: Condition, role: str, evidence: Evidence, now: float) -> Finding:
    at, text = _LOOKS[condition.subject](condition, evidence)
    age = None if not math.isfinite(at) else max(0.0, now - at)
    return Finding(condition, role, condition.holds(evidence, Moment(now)), age, printable(text))


Look = tuple[float, str]


def _look_at_region(condition: Condition, evidence: Evidence) -> Look:
    screen = evidence.screen
    if screen is None:
        return NEVER, ""
    text = screen.text(condition.region)
    if condition.pattern is ANY:
        return screen.changed_at(condition.region), text
    if condition.raw:
        candidates = screen.rows(condition.region)
    else:
        candidates = [text] if condition.flat else screen.lines(condition.region)
    for candidate in candidates:
        match = condition.pattern.search(candidate)
        if match:
            return screen.changed_at(condition.region), candidate[max(0, match.start() - EXCERPT // 4) :]
    return screen.changed_at(condition.region), text[-EXCERPT:]


def _look_at_cursor(condition: Condition, evidence: Evidence) -> Look:
    return NEVER, "" if evidence.screen is None else evidence.screen.text("cursor_line")


def _look_at_composer(condition: Condition, evidence: Evidence) -> Look:
    return NEVER, "" if evidence.screen is None else evidence.screen.text("composer")


def _look_at_input(condition: Condition, evidence: Evidence) -> Look:
    return max(getattr(evidence, INPUTS[name]) for name in condition.values), ""


_LOOKS: dict[str, Callable[[Condition, Evidence], Look]] = {
    "title": lambda _, evidence: (evidence.title.set_at, evidence.title.text),
    "progress": lambda _, evidence: (evidence.progress.set_at, evidence.progress.text),
    "status": lambda _, evidence: (
        evidence.status_at,
        " ".join((evidence.status, evidence.status_kind, evidence.status_text)),
    ),
    "notification": lambda _, evidence: (evidence.notification.set_at, evidence.notification.text),
    "bell": lambda _, evidence: (evidence.bell_at, ""),
    "prompt": lambda _, evidence: (evidence.prompt.set_at, evidence.prompt.text),
    "region": _look_at_region,
    "composer": _look_at_composer,
    "alternate": lambda *_: (NEVER, ""),
    "cursor": _look_at_cursor,
    "startup": lambda *_: (NEVER, ""),
    "unblocked": lambda _, evidence: (evidence.unblocked_at, ""),
    "quiet": lambda _, evidence: (evidence.output_at, ""),
    "flow": lambda _, evidence: (evidence.flow_since, ""),
    "line_editor": lambda _, evidence: (evidence.line_editor.set_at, evidence.line_editor.text),
    "standing": lambda _, evidence: (NEVER, evidence.standing),
    "entered": lambda _, evidence: (evidence.entered.set_at, evidence.entered.text),
    "input": _look_at_input,
}
