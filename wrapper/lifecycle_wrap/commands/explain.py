"""`lifecycle-wrap explain` and `--explain LOG`: why each state is what it is.

Owns the forms that an explanation is printed in, and the log of a live run. What it prints is content (lines of the
agent's screen), so it is only made where the user asked for it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from lifecycle_detectors import Explanation, Finding, Session, StateChanged, wording
from lifecycle_detectors.rules import Rule
from lifecycle_wrap.recordings.recording import RecordedEvent

from .replay import walk

LOG_LIMIT = 16 << 20
"""Bytes of an explain log: some ten thousand changes of state."""


class Reason(NamedTuple):
    """One state with its reason.

    Attributes:
        at: seconds.
        state: the state that is published.
        rule: the rule that it is published by; None where no rule has spoken yet.
        explanation: what held at that time.
    """

    at: float
    state: str
    rule: Rule | None
    explanation: Explanation


def reasons(events: Iterable[RecordedEvent], session: Session) -> Iterator[Reason]:
    """Replay a recording and yield the reason of each change of state.

    Raises:
        RecordingError: at the first line that is no event.
    """
    for event in walk(events, session):
        if isinstance(event, StateChanged):
            yield _reason(session, event)


def reason_at(events: Iterable[RecordedEvent], session: Session, at: float) -> Reason:
    """Replay a recording up to a time and return the reason of the state there.

    Raises:
        RecordingError: at the first line that is no event.
    """
    for _ in walk(takewhile(lambda event: event.at <= at, events), session):
        pass
    while (due := session.next_deadline) is not None and due <= at:
        session.tick(due)
    why = session.explain(at)
    return Reason(at, why.state, why.rule_of(why.standing), why)


def _reason(session: Session, change: StateChanged) -> Reason:
    why = session.explain(change.at)
    return Reason(change.at, change.state, why.rule_of(change.rule.rpartition("/")[2]), why)


def as_text(reason: Reason) -> str:
    """Return a reason as the readable block of `explain`."""
    why, rule = reason.explanation, reason.rule
    name = why.profile.name
    if rule is None:
        head = f"no rule of {name} has spoken yet"
    else:
        head = f"{name}/{rule.id}  ({rule.source}, priority {rule.priority})"
    lines = [f"{reason.at:10.3f}  {reason.state:8}  {head}"]
    if rule is not None:
        lines += [_finding_row(finding) for finding in why.findings(rule)]
    if why.rule is not None and why.rule is not rule:
        lines.append(f"            now speaks {why.rule.id} ({_state(why.rule)})")
    beaten = _beaten(reason)
    if beaten:
        lines.append(f"            beat {', '.join(f'{other.id} ({_state(other)})' for other in beaten)}")
    return "\n".join(lines)


def _finding_row(finding: Finding) -> str:
    mark = "" if finding.holds is (finding.role != "none") else "not now: "
    age = "" if finding.age is None else f"  {finding.age:.1f} s ago"
    excerpt = f"  “{finding.excerpt}”" if finding.excerpt else ""
    return f"            {finding.role:5} {mark}{wording(finding.condition)}{age}{excerpt}"


def _beaten(reason: Reason) -> list[Rule]:
    why = reason.explanation
    others = why.beaten if why.rule is None or why.rule is reason.rule else (why.rule, *why.beaten)
    return [rule for rule in others if rule is not reason.rule and rule is not why.rule]


def _state(rule: Rule) -> str:
    return "hold" if rule.state is None else str(rule.state)


def as_json(reason: Reason) -> str:
    """Return a reason as the JSON line of `explain --json`."""
    why, rule = reason.explanation, reason.rule
    fields = {
        "t": round(reason.at, 3),
        "state": reason.state,
        "rule": "" if rule is None else f"{why.profile.name}/{rule.id}",
        "source": "" if rule is None else rule.source,
        "priority": None if rule is None else rule.priority,
        "evidence": [] if rule is None else [_finding_fields(finding) for finding in why.findings(rule)],
        "speaks": "" if why.rule is None else why.rule.id,
        "beaten": [{"rule": other.id, "state": _state(other)} for other in _beaten(reason)],
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _finding_fields(finding: Finding) -> dict[str, object]:
    return {
        "role": finding.role,
        "condition": wording(finding.condition),
        "source": finding.condition.source,
        "holds": finding.holds,
        "age": None if finding.age is None else round(finding.age, 3),
        "text": finding.excerpt,
    }


class ExplainLog:
    """The log of `--explain LOG`: one block for each change of state of a live run.

    Args:
        path: the file; it is added to, and made readable for its owner only.
        started_at: monotonic seconds of the run's start; times in the log count from there.

    Attributes:
        problem: one line with the remedy when the file cannot be written, else empty. Nothing else comes of it.
    """

    def __init__(self, path: str, started_at: float) -> None:
        self.problem = ""
        self._path = path
        self._started_at = started_at
        self._left = LOG_LIMIT
        self._file = -1
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self._fail(error)

    def changed(self, session: Session, change: StateChanged) -> None:
        """Write why the session's state changed; call it right after the change."""
        if self._file < 0:
            return
        reason = _reason(session, change)
        block = as_text(reason._replace(at=reason.at - self._started_at)) + "\n"
        data = block.encode("utf-8", "replace")
        self._left -= len(data)
        if self._left < 0:
            self.close()
            return
        try:
            os.write(self._file, data)
        except OSError as error:
            self._fail(error)

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _fail(self, error: OSError) -> None:
        self.close()
        self.problem = f"--explain: {self._path} cannot be written ({error.strerror}); name a file that can"
