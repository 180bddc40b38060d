"""How well a profile's states match what really happened: a recording's markers against a replay.

Owns the rules of the score and the text that tells where a replay differs. A marker `state:idle|working|blocked` tells
the true state from there on. A true change is a hit when the derived state equals it within `LIMIT` (or at the end of
that state, where it is shorter), and it may come `EARLY` before; what lasted less than `BRIEF` is not owed. A derived
change that no true change explains is false. Before the first marker nothing is scored: the agent has not drawn itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import NamedTuple

from lifecycle_detectors import Explanation, Profile, StateChanged
from lifecycle_wrap.commands.replay import new_session, state_changes, walk

from .recording import EXIT, MARKER, Recording

LIMIT = {"blocked": 0.75, "working": 1.5, "idle": 1.5}
"""Seconds until a host has to show it: a person who is waited for comes first."""
EARLY = {"blocked": 1.0, "working": 0.3, "idle": 0.3}
"""Agents tell by a signal what they hold back on the screen for up to 0.9 s after typing."""
BRIEF = 0.6
"""A host may see it or not."""
END = 0.05
"""What changes in the last moment before the end is not seen by anybody."""

MAX_SECONDS = 24 * 3600.0


class Change(NamedTuple):
    """From `at` seconds on the state is `state`; of a derived one, `rule` made it."""

    at: float
    state: str
    rule: str = ""


class Miss(NamedTuple):
    """A true change that was not derived in time: at `judged_at` the state was `derived`."""

    change: Change
    judged_at: float
    derived: str


@dataclass(frozen=True, slots=True)
class Score:
    """The comparison of one replay with the truth.

    Attributes:
        transitions, hits: how many true changes were owed, and how many were derived in time.
        missed: the others.
        false: derived changes that nothing explains.
    """

    transitions: int
    hits: int
    missed: tuple[Miss, ...]
    false: tuple[Change, ...]

    @property
    def perfect(self) -> bool:
        """Nothing was missed and nothing made up."""
        return not self.missed and not self.false

    @property
    def first_wrong_at(self) -> float:
        """When the first difference shows; of a false change, the moment before it, when its rule still spoke."""
        times = [miss.judged_at for miss in self.missed] + [change.at - 0.001 for change in self.false]
        return min(times, default=MAX_SECONDS)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One recording replayed with one profile.

    Attributes:
        truth: the recording's markers.
        derived: what the replay told.
        score: their comparison.
    """

    recording: Recording
    profile: Profile
    truth: tuple[Change, ...]
    derived: tuple[Change, ...]
    score: Score


def compare(recording: Recording, profile: Profile, *, screen: bool = True, signals: bool = True) -> Comparison:
    """Replay a recording and score it.

    Raises:
        RecordingError: the recording cannot be read.
    """
    truth, end = read_truth(recording)
    session = new_session(recording, profile, screen=screen, signals=signals)
    derived = _changes(list(state_changes(recording, session)))
    return Comparison(recording, profile, truth, derived, score(truth, end, derived))


def read_truth(recording: Recording) -> tuple[tuple[Change, ...], float]:
    """Return the true changes that a recording's markers tell, and when the agent ended."""
    truth: list[Change] = []
    end = 0.0
    for event in recording:
        if event.kind == MARKER and event.text.startswith("state:"):
            state = event.text.removeprefix("state:").split()[0]
            if not truth or truth[-1].state != state:
                truth.append(Change(event.at, state))
        if event.kind == EXIT or (event.kind == MARKER and event.text.startswith("note:exit")):
            return tuple(truth), event.at
        end = max(end, event.at)
    return tuple(truth), end


def _changes(events: Sequence[StateChanged]) -> tuple[Change, ...]:
    """A state whose message alone changed is no change here."""
    found: list[Change] = []
    for event in events:
        if not found or found[-1].state != event.state:
            found.append(Change(event.at, str(event.state), event.rule))
    return tuple(found)


def score(truth: Sequence[Change], end: float, derived: Sequence[Change]) -> Score:
    """Compare derived changes with the true ones.

    Args:
        truth: the true changes in their order.
        end: when the agent ended.
        derived: the derived changes in their order.
    """
    missed: list[Miss] = []
    explained: set[Change] = set()
    transitions = 0
    for change, following in pairwise([*truth, Change(end, "")]):
        lasted = following.at - change.at
        limit = change.at + LIMIT[change.state]
        explained.update(
            found
            for found in derived
            if found.state == change.state and change.at - EARLY[change.state] <= found.at <= limit
        )
        if lasted < BRIEF:
            continue
        transitions += 1
        judged_at = min(limit, following.at)
        state = _state_at(derived, judged_at)
        if state != change.state:
            missed.append(Miss(change, judged_at, state))
    start = truth[0].at if truth else end
    false = tuple(found for found in derived if found not in explained and start <= found.at <= end - END)
    return Score(transitions, transitions - len(missed), tuple(missed), false)


def _state_at(changes: Sequence[Change], at: float) -> str:
    state = "unknown"
    for change in changes:
        if change.at > at + 1e-9:
            break
        state = change.state
    return state


def difference(comparison: Comparison, *, screen: bool = True, signals: bool = True) -> str:
    """Tell both timelines, and what the rules said where they first differ. Holds rule names only, no screen text."""
    score = comparison.score
    name = "/".join(comparison.recording.path.parts[-2:])
    lines = [
        f"{name}: {score.hits} of {score.transitions} changes in time, {len(score.false)} false"
        f" (profile {comparison.profile.name})",
        "true:     " + _timeline(comparison.truth),
        "derived:  " + _timeline(comparison.derived),
    ]
    lines += [
        f"missed:   {miss.change.state} at {miss.change.at:.2f}: {miss.derived} at {miss.judged_at:.2f}"
        for miss in score.missed
    ]
    lines += [f"false:    {change.state} at {change.at:.2f} by {change.rule}" for change in score.false]
    if not score.perfect:
        at = score.first_wrong_at
        why = explain(comparison, at, screen=screen, signals=signals)
        spoke = "no rule" if why.rule is None else f"{why.rule.id} ({why.rule.source})"
        beaten = ", ".join(rule.id for rule in why.beaten) or "no other rule"
        lines.append(f"at {at:.2f}: {spoke} spoke; {beaten} held too")
    return "\n".join(lines)


def _timeline(changes: Sequence[Change]) -> str:
    return "  ".join(f"{change.at:.2f} {change.state}" for change in changes) or "nothing"


def explain(comparison: Comparison, at: float, *, screen: bool = True, signals: bool = True) -> Explanation:
    """Replay up to `at` and tell which rules hold there."""
    session = new_session(comparison.recording, comparison.profile, screen=screen, signals=signals)
    events = takewhile(lambda event: event.at <= at, comparison.recording)
    for _ in walk(events, session):
        pass
    return session.explain(at)
