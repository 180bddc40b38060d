"""A profile's rules against the evidence: the verdict.

Owns `Condition` (one test of one piece of evidence), `Rule` (conditions that together speak for a state) and `judge`,
which finds the first rule that holds, in order of priority. Must not know any agent (rules come from profiles) nor
remember anything: the same evidence at the same time gives the same verdict.

A condition may hold only for a while (a fresh title) or only after a while (a region that stands still); it then tells
`Moment.recheck` when it will turn, so that nobody has to poll.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .events import Message, Source
from .evidence import FLOW_GAP, NEVER, Evidence, ScreenView
from .states import State

ANY = re.compile("")

PROGRESS_LEASE = 300.0
"""Progress that is not renewed for so long is nobody's word any more (facts/requirements.md, section 4)."""


class Moment:
    """The time of one judgement, and when it should be made again.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, now: float) -> None:
        self.now = now
        self.again_at: float | None = None

    def recheck(self, at: float) -> None:
        """Ask for another judgement at `at`; the earliest wins, what is past does not count."""
        if at > self.now and (self.again_at is None or at < self.again_at):
            self.again_at = at

    def within(self, since: float, seconds: float) -> bool:
        """Tell whether `since` is at most `seconds` ago, and recheck when it no longer is."""
        if self.now - since > seconds:
            return False
        self.recheck(since + seconds + 0.001)
        return True

    def after(self, since: float, seconds: float) -> bool:
        """Tell whether `since` is at least `seconds` ago, and recheck when it is."""
        if self.now >= since + seconds:
            return True
        self.recheck(since + seconds)
        return False


@dataclass(frozen=True, slots=True)
class Condition:
    """One test. Exactly one subject is set; the others narrow it.

    Attributes:
        source: which evidence it looks at.
        subject: the name of the subject in a profile: `title`, `progress`, `status`, `region`, ...
        pattern: for title, notification and region: a regular expression to be found.
        values: for progress, status, prompt, input, standing and entered: the accepted names.
        region: for screen conditions: a region's name.
        flat: match the region as one line instead of line by line.
        raw: match rendered rows, with their indentation and the sides of boxes.
        kinds: with status: the accepted kinds; empty accepts any.
        fresh: the evidence was set, or the region changed, at most so many seconds ago.
        still: the region, the title or the line editor has not changed for so many seconds; with quiet, the agent
            printed nothing for so long; with flow, it printed all the time.
        moving: the matching row (with `flat`: a row of the region), or the title, moved in place within so many
            seconds.
        spinning: as `moving`, but a spinner glyph turned, not only a counter.
        within: the line editor was switched at most so many seconds after the user's last submit.
        soon: the title took the place of another that had stood for at most so many seconds.
        after_submit: the evidence is younger than the user's last submit.
        before_submit: the region has not changed since the user's last submit.
        since_submit: the region changed at least so many seconds after the user's last submit.
        pending: with entered: the agent has not come to rest since.
        expected: for `composer`, `alternate`, `cursor`, `startup` and `line_editor`: whether it has to be so.
    """

    source: Source
    subject: str
    pattern: re.Pattern[str] = ANY
    values: frozenset[str] = frozenset()
    region: str = ""
    flat: bool = False
    raw: bool = False
    kinds: frozenset[str] = frozenset()
    fresh: float | None = None
    still: float | None = None
    moving: float | None = None
    spinning: float | None = None
    within: float | None = None
    soon: float | None = None
    after_submit: bool = False
    before_submit: bool = False
    since_submit: float | None = None
    pending: bool = False
    expected: bool = True

    def holds(self, evidence: Evidence, moment: Moment) -> bool:
        """Tell whether the evidence meets the condition now."""
        return _TESTS[self.subject](self, evidence, moment)


def _timely(condition: Condition, evidence: Evidence, set_at: float, moment: Moment) -> bool:
    if condition.after_submit and set_at <= evidence.submit_at:
        return False
    return condition.fresh is None or moment.within(set_at, condition.fresh)


def _title(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    title = evidence.title
    if title.set_at == NEVER or not condition.pattern.search(title.text):
        return False
    if condition.still is not None and not moment.after(title.changed_at, condition.still):
        return False
    if condition.soon is not None and title.changed_at - title.before_at > condition.soon:
        return False
    if condition.moving is not None and not moment.within(evidence.title_moved_at, condition.moving):
        return False
    return _timely(condition, evidence, title.set_at, moment)


def _progress(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    progress = evidence.progress
    if progress.text not in condition.values:
        return False
    if progress.text != "none" and not moment.within(progress.set_at, PROGRESS_LEASE):
        return False
    return _timely(condition, evidence, progress.set_at, moment)


def _status(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    if evidence.status not in condition.values:
        return False
    if condition.kinds and evidence.status_kind not in condition.kinds:
        return False
    if not condition.pattern.search(evidence.status_text):
        return False
    return _timely(condition, evidence, evidence.status_at, moment)


def _notification(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    notification = evidence.notification
    if notification.set_at == NEVER or not condition.pattern.search(notification.text):
        return False
    return _timely(condition, evidence, notification.set_at, moment)


def _bell(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    return evidence.bell_at != NEVER and _timely(condition, evidence, evidence.bell_at, moment)


def _prompt(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    if evidence.prompt.text not in condition.values:
        return False
    return _timely(condition, evidence, evidence.prompt.set_at, moment)


def _region(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    screen = evidence.screen
    if screen is None:
        return False
    matched = _matches(condition, screen)
    if not matched:
        return False
    changed_at = screen.changed_at(condition.region)
    if condition.before_submit and changed_at > evidence.submit_at:
        return False
    if condition.since_submit is not None and changed_at < evidence.submit_at + condition.since_submit:
        return False
    if condition.fresh is not None and not moment.within(changed_at, condition.fresh):
        return False
    if condition.still is not None and not moment.after(changed_at, condition.still):
        return False
    for seconds, spun in ((condition.moving, False), (condition.spinning, True)):
        if seconds is not None:
            pattern = None if condition.flat else condition.pattern
            moved_at = screen.moved_at(condition.region, pattern, spun=spun, raw=condition.raw)
            if not moment.within(moved_at, seconds):
                return False
    return True


def _matches(condition: Condition, screen: ScreenView) -> bool:
    if condition.raw:
        return any(condition.pattern.search(row) for row in screen.rows(condition.region))
    if condition.flat:
        return condition.pattern.search(screen.text(condition.region)) is not None
    if condition.pattern is ANY:
        return condition.still is not None or bool(screen.text(condition.region))
    return any(condition.pattern.search(line) for line in screen.lines(condition.region))


def _composer(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    return evidence.screen is not None and evidence.screen.has_composer is condition.expected


def _alternate(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    return evidence.screen is not None and evidence.screen.alternate is condition.expected


def _cursor(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    return evidence.screen is not None and evidence.screen.cursor is condition.expected


def _startup(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    return (evidence.rested_at == NEVER) is condition.expected


def _unblocked(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    return evidence.unblocked_at != NEVER and _timely(condition, evidence, evidence.unblocked_at, moment)


def _quiet(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    assert condition.still is not None
    return evidence.output_at != NEVER and moment.after(evidence.output_at, condition.still)


def _flow(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    assert condition.still is not None
    if evidence.output_at == NEVER or not moment.within(evidence.output_at, FLOW_GAP):
        return False
    return moment.after(evidence.flow_since, condition.still)


def _line_editor(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    editor = evidence.line_editor
    if editor.text != ("on" if condition.expected else "off"):
        return False
    if condition.within is not None and not 0 <= editor.set_at - evidence.submit_at <= condition.within:
        return False
    if condition.still is not None and not moment.after(editor.changed_at, condition.still):
        return False
    return _timely(condition, evidence, editor.set_at, moment)


def _standing(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    return evidence.standing in condition.values


def _entered(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    entered = evidence.entered
    if entered.set_at == NEVER or entered.text not in condition.values:
        return False
    if condition.pending and evidence.rested_at > entered.set_at:
        return False
    return _timely(condition, evidence, entered.set_at, moment)


INPUTS = {"key": "key_at", "submit": "submit_at", "command": "command_at", "interrupt": "interrupt_at"}


def _input(condition: Condition, evidence: Evidence, moment: Moment) -> bool:
    newest = max(getattr(evidence, INPUTS[name]) for name in condition.values)
    if newest == NEVER or not _timely(condition, evidence, newest, moment):
        return False
    if condition.still is None:
        return True
    return evidence.key_at <= newest and moment.after(newest, condition.still)


_TESTS = {
    "title": _title,
    "progress": _progress,
    "status": _status,
    "notification": _notification,
    "bell": _bell,
    "prompt": _prompt,
    "region": _region,
    "composer": _composer,
    "alternate": _alternate,
    "cursor": _cursor,
    "startup": _startup,
    "unblocked": _unblocked,
    "quiet": _quiet,
    "flow": _flow,
    "line_editor": _line_editor,
    "standing": _standing,
    "entered": _entered,
    "input": _input,
}

SUBJECTS: dict[str, Source] = {
    "title": Source.TITLE,
    "progress": Source.PROGRESS,
    "status": Source.STATUS,
    "notification": Source.NOTIFICATION,
    "bell": Source.BELL,
    "prompt": Source.PROMPT,
    "region": Source.SCREEN,
    "composer": Source.SCREEN,
    "alternate": Source.SCREEN,
    "cursor": Source.SCREEN,
    "startup": Source.PROCESS,
    "unblocked": Source.SCREEN,
    "quiet": Source.OUTPUT,
    "flow": Source.OUTPUT,
    "line_editor": Source.PROMPT,
    "standing": Source.PROCESS,
    "entered": Source.INPUT,
    "input": Source.INPUT,
}

SCREEN_SUBJECTS = frozenset({"region", "composer", "alternate", "cursor"})
"""Their conditions never hold where there is no screen."""

DEFAULT_PRIORITY: dict[tuple[Source, State], int] = {
    (Source.STATUS, State.BLOCKED): 900,
    (Source.STATUS, State.WORKING): 900,
    (Source.STATUS, State.IDLE): 900,
    (Source.SCREEN, State.BLOCKED): 800,
    (Source.TITLE, State.BLOCKED): 720,
    (Source.TITLE, State.WORKING): 700,
    (Source.PROGRESS, State.BLOCKED): 620,
    (Source.PROGRESS, State.WORKING): 600,
    (Source.SCREEN, State.WORKING): 500,
    (Source.NOTIFICATION, State.BLOCKED): 420,
    (Source.BELL, State.BLOCKED): 410,
    (Source.PROMPT, State.WORKING): 320,
    (Source.PROMPT, State.IDLE): 310,
    # A title or a bar at rest is the weakest word: agents leave them standing.
    (Source.TITLE, State.IDLE): 250,
    (Source.PROGRESS, State.IDLE): 240,
    (Source.NOTIFICATION, State.IDLE): 230,
    (Source.SCREEN, State.IDLE): 200,
}
"""DESIGN.md's table of precedence in numbers; a profile's rule may give its own."""

HOLD_PRIORITY = 1000
"""A hold (a transcript viewer covers the screen) is asked first; what does not look at the screen passes through it."""

OTHER_PRIORITY = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions that together speak for a state.

    Attributes:
        id: unique within its profile; published as `profile/id`.
        state: what it speaks for; None holds what the screen said last.
        priority: higher is asked first.
        all_of, any_of, none_of: every one, at least one (where any is given), none has to hold.
        message, kind, background, failed: go into the state's event.
        settle: seconds that a change to idle by this rule must stand; None takes the profile's.
        sees_screen: one of `all_of` looks at the screen, so that the rule never speaks without one.
    """

    id: str
    state: State | None
    priority: int
    all_of: tuple[Condition, ...] = ()
    any_of: tuple[Condition, ...] = ()
    none_of: tuple[Condition, ...] = ()
    message: Message = Message.NONE
    kind: str = ""
    background: bool = False
    failed: bool = False
    settle: float | None = None
    sees_screen: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sees_screen", any(one.subject in SCREEN_SUBJECTS for one in self.all_of))

    @property
    def source(self) -> Source:
        """The evidence that it is named after: that of its first condition."""
        return (self.all_of or self.any_of)[0].source

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All its conditions."""
        return self.all_of + self.any_of + self.none_of

    def holds(self, evidence: Evidence, moment: Moment) -> bool:
        """Tell whether it speaks now."""
        # Loops: all() and any() would take half of a replay's time.
        for condition in self.all_of:
            if not condition.holds(evidence, moment):
                return False
        if self.any_of and not any(condition.holds(evidence, moment) for condition in self.any_of):
            return False
        for condition in self.none_of:  # noqa: SIM110
            if condition.holds(evidence, moment):
                return False
        return True


def default_priority(source: Source, state: State | None) -> int:
    """Return where a rule stands that gives no priority of its own."""
    if state is None:
        return HOLD_PRIORITY
    return DEFAULT_PRIORITY.get((source, state), OTHER_PRIORITY)


def judge(rules: Sequence[Rule], evidence: Evidence, moment: Moment) -> Rule | None:
    """Return the first rule that holds.

    Args:
        rules: ordered by falling priority, holds first.
        evidence: what is known; `held_at` is kept here.
        moment: the time; learns when to judge again.

    Returns:
        The rule, or None when no rule speaks: then nothing changes.
    """
    held = False
    verdict = None
    blind = evidence.screen is None
    for rule in rules:
        if blind and rule.sees_screen:
            continue
        if rule.state is None:
            held = held or rule.holds(evidence, moment)
        elif (not held or _passes_hold(rule, evidence)) and rule.holds(evidence, moment):
            verdict = rule
            break
    if not held:
        evidence.held_at = NEVER
    elif evidence.held_at == NEVER:
        evidence.held_at = moment.now
    return verdict


def _passes_hold(rule: Rule, evidence: Evidence) -> bool:
    """While the screen is covered only signals count, and rest only where it was told since."""
    if any(condition.source is Source.SCREEN for condition in rule.all_of + rule.any_of):
        return False
    if rule.state is not State.IDLE or rule.source is Source.STATUS:
        return True
    since = evidence.held_at
    return since != NEVER and max(evidence.title.set_at, evidence.progress.set_at) > since
