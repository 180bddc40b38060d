"""What is doubtful about a profile that can be read: rules that never decide, and rules that prose would fire.

Owns the judgements of `lifecycle-wrap profiles check`. They are made from the profile alone: what is reported is true
(a rule that is reported as never deciding never does), but not everything that is wrong is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from lifecycle_detectors.rules import ANY, Condition, Rule
from lifecycle_detectors.states import State

from .format import Profile
from .prose import SAMPLES

ONE_VALUED = frozenset({"progress", "status", "prompt", "standing", "entered"})
"""Subjects that have one value at a time: two conditions that share none contradict each other."""

FLAGS = frozenset({"composer", "alternate", "cursor", "startup", "line_editor"})

AT_A_COMPOSER = frozenset({"composer", "above_composer", "status_block", "below_composer"})
WITHOUT_COMPOSER = frozenset({"dialog", "panel"})

PROSE_REGIONS = frozenset({"screen", "above_composer", "status_block", "bottom", "dialog", "panel", "last_line"})
"""Where an agent's answer or a tool's output may stand."""


class Doubt(NamedTuple):
    """One thing to look at: the rule's id, what is doubtful, what to do."""

    rule: str
    problem: str
    remedy: str


def doubts(profile: Profile) -> list[Doubt]:
    """Return what is doubtful about a profile's rules, in their order."""
    found: list[Doubt] = []
    known = {rule.id for rule in profile.rules}
    for index, rule in enumerate(profile.rules):
        problem = _impossible(rule, profile, known)
        if problem:
            found.append(Doubt(rule.id, f"can never fire: {problem}", "mend or delete it"))
            continue
        missing = sorted(_named(rule) - known)
        if missing:
            found.append(Doubt(rule.id, f"names no rule of the profile: {', '.join(missing)}", "mend the name"))
        stronger = _shadow(rule, profile.rules[:index])
        if stronger is not None:
            problem = f"never decides: whenever it holds, {stronger.id!r} holds and is asked first"
            found.append(Doubt(rule.id, problem, "raise its priority, narrow the other, or delete it"))
        sample = _prose(rule)
        if sample:
            problem = f"would take prose for it: {sample!r}"
            found.append(Doubt(rule.id, problem, "anchor the pattern (^, $) or name a region that shows no prose"))
    return found


def _named(rule: Rule) -> set[str]:
    """Return the ids of rules that a rule's conditions name."""
    return {identity for c in rule.conditions if c.subject in ("standing", "entered") for identity in c.values}


# --- never fires


def _impossible(rule: Rule, profile: Profile, known: set[str]) -> str:
    for one, other in combinations(rule.all_of, 2):
        if _contradict(one, other):
            return f"{_name(one)} contradicts {_name(other)}"
    for wanted in rule.all_of:
        for unwanted in rule.none_of:
            if _implies(wanted, unwanted):
                return f"{_name(wanted)} is wanted in `all` and unwanted in `none`"
    for condition in rule.all_of:
        problem = _unknown(condition, profile, known)
        if problem:
            return problem
    problems = [_unknown(condition, profile, known) for condition in rule.any_of]
    return problems[0] if problems and all(problems) else ""


def _unknown(condition: Condition, profile: Profile, known: set[str]) -> str:
    if condition.subject in ("standing", "entered") and not condition.values & known:
        return f"{condition.subject} names no rule of the profile"
    if not profile.composers:
        if condition.subject == "composer" and condition.expected:
            return "the profile has no [composer]"
        if condition.region in AT_A_COMPOSER:
            return f"region {condition.region} needs a [composer], which the profile does not have"
    if condition.subject == "unblocked" and not any(rule.state is State.BLOCKED for rule in profile.rules):
        return "the profile has no blocked rule"
    return ""


def _contradict(one: Condition, other: Condition) -> bool:
    if one.subject == other.subject:
        if one.subject in FLAGS:
            return one.expected is not other.expected
        if one.subject in ONE_VALUED:
            return not one.values & other.values
    return _keeps_composer_away(one, other) or _keeps_composer_away(other, one)


def _keeps_composer_away(flag: Condition, region: Condition) -> bool:
    if flag.subject != "composer" or region.subject != "region":
        return False
    return region.region in (WITHOUT_COMPOSER if flag.expected else AT_A_COMPOSER)


# --- never decides


def _shadow(rule: Rule, earlier: tuple[Rule, ...]) -> Rule | None:
    """Find a rule that is asked before and holds whenever this one does."""
    for other in earlier:
        if (other.state is None) is not (rule.state is None):
            continue
        wanted = all(any(_implies(own, needed) for own in rule.all_of) for needed in other.all_of)
        one_of = not other.any_of or _implies_any(rule, other)
        unwanted = all(any(_implies(bar, own) for own in rule.none_of) for bar in other.none_of)
        if wanted and one_of and unwanted:
            return other
    return None


def _implies_any(rule: Rule, other: Rule) -> bool:
    if any(_implies(own, wanted) for own in rule.all_of for wanted in other.any_of):
        return True
    return bool(rule.any_of) and all(any(_implies(own, wanted) for wanted in other.any_of) for own in rule.any_of)


def _implies(strong: Condition, weak: Condition) -> bool:
    """Tell whether the second condition surely holds whenever the first does."""
    if (strong.subject, strong.region, strong.expected) != (weak.subject, weak.region, weak.expected):
        return False
    if weak.pattern is not ANY and _pattern(strong) != _pattern(weak):
        return False
    if weak.values and not (strong.values and strong.values <= weak.values):
        return False
    if weak.kinds and not (strong.kinds and strong.kinds <= weak.kinds):
        return False
    if any(getattr(weak, flag) and not getattr(strong, flag) for flag in ("after_submit", "before_submit")):
        return False
    at_most = all(_bound(strong, weak, name) for name in ("fresh", "moving", "spinning", "within", "soon"))
    return at_most and all(_bound(weak, strong, name, absent=0.0) for name in ("still", "since_submit"))


def _pattern(condition: Condition) -> tuple[bool, bool, str]:
    return condition.flat, condition.raw, condition.pattern.pattern


def _bound(lower: Condition, upper: Condition, name: str, absent: float = float("inf")) -> bool:
    """Tell whether the first condition's seconds are at most the second's; `absent` stands for none given."""
    values = [getattr(condition, name) for condition in (lower, upper)]
    low, high = (absent if value is None else value for value in values)
    return bool(low <= high)


# --- matches prose


def _prose(rule: Rule) -> str:
    """Return a line of prose that a rule over the screen would take for the real thing, or an empty string.

    Each sample is a page of lines. A rule is in danger when every condition that it needs may hold with one page in
    front of an agent at rest: patterns over regions that show prose are tried, all that asks for motion, for a signal,
    for the keyboard or for another place is taken as not met.
    """
    if rule.state is State.IDLE or not any(condition.pattern is not ANY for condition in rule.all_of + rule.any_of):
        return ""
    for page in SAMPLES:
        lines = [_match(condition, page) for condition in rule.all_of]
        if not all(line is not None for line in lines):
            continue
        ways = [_match(condition, page) for condition in rule.any_of]
        if rule.any_of and all(line is None for line in ways):
            continue
        if any(_match(condition, page) is not None for condition in rule.none_of):
            continue
        return next((line for line in [*lines, *ways] if line), "")
    return ""


def _match(condition: Condition, page: tuple[str, ...]) -> str | None:
    """Return the line that meets a condition, an empty string where it is met anyway, or None where it is not."""
    if condition.subject in ("alternate", "cursor") or (condition.subject == "composer" and condition.expected):
        return ""
    if condition.subject == "startup":
        return None if condition.expected else ""
    if condition.subject != "region" or condition.region not in PROSE_REGIONS:
        return None
    if condition.moving is not None or condition.spinning is not None or condition.fresh is not None:
        return None
    return next(_matching(condition, page), None)


def _matching(condition: Condition, page: tuple[str, ...]) -> Iterator[str]:
    if condition.pattern is ANY:
        yield ""
    elif condition.flat:
        text = " ".join(page)
        match = condition.pattern.search(text)
        if match:
            yield text[max(0, match.start() - 20) : match.end() + 20]
    else:
        rows = [f"  {line}" for line in page] if condition.raw else list(page)
        if condition.region == "last_line":
            rows = rows[-1:]
        yield from (line for line in rows if condition.pattern.search(line))


def _name(condition: Condition) -> str:
    if condition.subject == "region":
        return f"region {condition.region}"
    if condition.subject in FLAGS:
        return f"{condition.subject} = {str(condition.expected).lower()}"
    return condition.subject
