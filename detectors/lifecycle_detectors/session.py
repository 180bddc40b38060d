"""The only object the wrapper holds: bytes, keys, sizes and times in; events out.

Owns the order of things: what comes in becomes evidence at once, and a little later the rules judge it. Must not know
any agent (the profile does), any host, or a clock.

Laws, each a test: no input raises; memory is bounded; any chunking of the same bytes at the same times gives the same
events; nothing but the arguments matters; `tick` may come late or twice.
"""

from __future__ import annotations

from collections.abc import Callable

from . import keyboard
from .draft import Draft
from .events import (
    ApprovalRequested,
    ApprovalResolved,
    ExitStatus,
    ForegroundProcess,
    ProfileChanged,
    SessionEnded,
    SessionEvent,
    Size,
    StateChanged,
    TurnCompleted,
    TurnStarted,
)
from .evidence import FLOW_GAP, NEVER, Evidence, Motion, ScreenView
from .explanation import Explanation
from .intake import Intake
from .layout import Layout
from .modes import Place
from .profiles import Profile
from .rules import Moment, Rule, judge
from .screen.backlog import BEHIND, ScreenBacklog, ScreenFactory
from .states import Change, State, StateMachine
from .stream import OutputStream

JUDGE_AFTER = 0.05
"""Seconds from an input to its judgement: a frame of an agent comes in several reads, and half a frame misleads."""

UPDATE_LIMIT = 0.5
"""How long a synchronized update (DECSET 2026) may put a judgement off: an agent may die inside one."""

RESIZE_REST = 0.5
"""After a resize the screen is a mixture of old and new rows until the agent has repainted it."""

SCREEN_SLICE = 1 << 13
"""Bytes the screen model may take in one call: about 6 ms of pyte, so that a key is never delayed by more."""
CATCH_UP = 1 << 15
"""Bytes it may take where a key is pressed, since what the user saw tells what the key means; a frame is smaller."""

FLOOD_GAP = 0.02
SLICE_PAUSE = 0.0125
FLOOD_PAUSE = 0.0625
"""While output comes at gaps shorter than the first, a slice is taken only so often, and less often still where the
screen has fallen behind: in a flood the bytes come first, and the backlog skips what nobody will see."""

SCREEN_RETRY = 0.05
"""While the screen model is still being loaded, it is asked for this often."""

ProfileChoice = Callable[[ForegroundProcess], Profile]


class Session:
    """One wrapped run, watched.

    Args:
        profile: what is known about the agent.
        size: the terminal's size.
        now: monotonic seconds.
        screen: makes the screen model; None looks at signals only. While it has none to give nothing is judged.
        choose_profile: finds the profile of another program that comes to the foreground; None keeps the profile.
        signals: False leaves titles, progress, status, notifications and bells out (for scoring the screen alone).
        background_working: an agent of which only a background shell runs is told as working, not as idle.
        follow_modes: False where `stream.undo` is not needed: in a replay there is no terminal to put back.

    Attributes:
        profile: the one that holds now.
        stream: the agent's output as it was read, and the modes that it leaves behind.
    """

    def __init__(
        self,
        profile: Profile,
        size: Size,
        now: float,
        *,
        screen: ScreenFactory | None = None,
        choose_profile: ProfileChoice | None = None,
        signals: bool = True,
        background_working: bool = False,
        follow_modes: bool = True,
    ) -> None:
        self.profile = profile
        self._own_profile = profile
        self._choose_profile = choose_profile
        self._background_state = State.WORKING if background_working else State.IDLE
        self.stream = OutputStream(size, follow_modes=follow_modes)
        self._keyboard = keyboard.Keyboard()
        self._intake = Intake(signals)
        self._backlog = None if screen is None or not profile.needs_screen else ScreenBacklog(screen, size)
        self._motion = Motion()
        self._machine: StateMachine[Rule] = StateMachine()
        self._evidence = Evidence(started_at=now)
        self._judge_at: float | None = None
        self._update_since: float | None = None
        self._resized_at = NEVER
        self._seen_generation = -1
        self._turn = 0
        self._was_blocked = False
        self._draft = Draft(self._layout_at_key)
        self._ended = False

    @property
    def state(self) -> State:
        """The published state."""
        return self._machine.state

    @property
    def uses_screen(self) -> bool:
        """Whether there is, or will be, a screen model."""
        return self._backlog is not None

    @property
    def follows(self) -> bool:
        """Whether `process_changed` makes a difference."""
        return self._choose_profile is not None

    @property
    def next_deadline(self) -> float | None:
        """When `tick` is due; None while nothing is pending, so that an idle agent costs no wake-up."""
        if self._ended:
            return None
        judge_at, change_at = self._judge_at, self._machine.deadline
        if judge_at is None or change_at is None:
            return change_at if judge_at is None else judge_at
        return min(judge_at, change_at)

    def receive_output(self, data: bytes, now: float) -> list[SessionEvent]:
        """Take what the agent printed."""
        events = self._advance(now)
        if self._ended or not data:
            return events
        if now > self._evidence.output_at + FLOW_GAP:
            self._evidence.flow_since = now
        self._evidence.output_at = now
        tokens = self.stream.feed(data)
        if self._backlog is not None:
            self._backlog.push(data, only_draws=self.stream.only_drew)
        for token in tokens:
            self._intake.take(token, self._evidence, now, events)
        if not self.stream.in_synchronized_update:
            self._update_since = None
        elif self._update_since is None:
            self._update_since = now
        self._judge_soon(now)
        return events

    def receive_input(self, data: bytes, now: float) -> list[SessionEvent]:
        """Take what came from the outer terminal: keys are the user's word, reports are not."""
        events = self._advance(now)
        for press in self._keyboard.feed(data):
            self._press(press, now)
        if self._keyboard.pending:  # a lone ESC: the Esc key, unless more of a sequence comes at once
            self._judge_soon(now)
        return events

    def resize(self, size: Size, now: float) -> list[SessionEvent]:
        """Take the terminal's new size."""
        events = self._advance(now)
        self.stream.modes.size = size
        if self._backlog is not None:
            self._backlog.resize(size)
        self._resized_at = now
        self._judge_soon(now)
        return events

    def process_changed(self, info: ForegroundProcess, now: float) -> list[SessionEvent]:
        """Take the news that another process leads the foreground process group."""
        events = self._advance(now)
        if self._choose_profile is None or self._ended:
            return events
        profile = self._own_profile if info.is_agent else self._choose_profile(info)
        if profile.name != self.profile.name:
            self.profile = profile
            self._evidence = Evidence(
                started_at=now, output_at=now, flow_since=now, line_editor=self._evidence.line_editor
            )
            self._seen_generation = -1
            events.append(ProfileChanged(now, profile.name))
            self._judge_soon(now)
        return events

    def child_exited(self, status: ExitStatus, now: float) -> list[SessionEvent]:
        """Take the agent's end; nothing is told after it."""
        events = self._advance(now)
        if not self._ended:
            self._ended = True
            self._intake.end_process()
            events.append(SessionEnded(now, status))
        return events

    def tick(self, now: float) -> list[SessionEvent]:
        """Do what is due at `now`; harmless when nothing is."""
        return self._advance(now)

    def show(self, data: bytes) -> None:
        """Follow bytes that are not the agent's but move the cursor or switch the screen all the same."""
        if self._backlog is not None:
            self._backlog.push(data)

    def place(self) -> Place | None:
        """Tell where the cursor stands, all output counted; None where there is no screen to tell."""
        backlog = self._backlog
        if backlog is None or backlog.screen is None or backlog.lost:
            return None
        backlog.work(backlog.pending)
        rows, cursor = backlog.screen.rows(), backlog.screen.cursor
        last = max((number for number, row in enumerate(rows) if row), default=0)
        return Place(cursor.column, not rows[cursor.row], max(0, last - cursor.row))

    def explain(self, now: float) -> Explanation:
        """Tell which rules hold at `now` and on what evidence."""
        moment = Moment(now)
        evidence = self._evidence
        rule = judge(self.profile.rules, evidence, moment)
        held = evidence.held_at != NEVER
        beaten = tuple(
            other
            for other in self.profile.rules
            if other is not rule and (other.state is not None or held) and other.holds(evidence, moment)
        )
        return Explanation(now, self.profile, self._machine.state, evidence.standing, rule, beaten, evidence)

    def _advance(self, now: float) -> list[SessionEvent]:
        """Do all that was due before or at `now`, each at its own time; the screen takes one slice a call."""
        events: list[SessionEvent] = []
        while not self._ended:
            due = self.next_deadline
            if due is None or due > now:
                break
            change = self._machine.advance(due)
            if change is not None:
                self._publish(change, events)
                self._judge_soon(due)
            elif not self._judge(due):
                break
        return events

    def _judge_soon(self, now: float) -> None:
        at = now + JUDGE_AFTER
        if self._judge_at is None or at < self._judge_at:
            self._judge_at = at

    def _judge(self, now: float) -> bool:
        """Ask the rules; return False when the screen needs another slice first."""
        if self._backlog is not None and now < self._resized_at + RESIZE_REST:
            self._judge_at = self._resized_at + RESIZE_REST
            return True
        if self._update_since is not None and now < self._update_since + UPDATE_LIMIT:
            self._judge_at = self._update_since + UPDATE_LIMIT
            return True
        if self._backlog is not None and self._backlog.screen is None:
            self._judge_at = now + SCREEN_RETRY
            return True
        if self._backlog is not None and self._backlog.pending:
            self._backlog.work(SCREEN_SLICE)
            if self._backlog.pending:
                flows = now - self._evidence.output_at < FLOOD_GAP
                pause = FLOOD_PAUSE if self._backlog.pending > BEHIND else SLICE_PAUSE
                self._judge_at = now + pause if flows else now
                return flows
        self._judge_at = None
        for press in self._keyboard.flush():
            self._press(press, now)
        moment = Moment(now)
        self._look_at_screen(now)
        rule = self._verdict(now, moment)
        if rule is None or rule.state is None:
            self._machine.withdraw()
        else:
            self._evidence.spoke = rule.id
            settle = self.profile.settle if rule.settle is None else rule.settle
            detail = (rule.message, rule.kind, rule.background, rule.failed)
            state = self._background_state if rule.background else rule.state
            self._machine.propose(state, now, settle, rule, detail)
            if state is self._machine.state:
                self._evidence.standing = rule.id
        if moment.again_at is not None:
            self._judge_at = moment.again_at
        return True

    def _verdict(self, now: float, moment: Moment) -> Rule | None:
        rule = judge(self.profile.rules, self._evidence, moment)
        blocked = rule is not None and rule.state is State.BLOCKED
        if self._was_blocked and not blocked:
            self._evidence.unblocked_at = now
            rule = judge(self.profile.rules, self._evidence, moment)
        self._was_blocked = blocked
        return rule

    def _look_at_screen(self, now: float) -> None:
        backlog = self._backlog
        if backlog is None or backlog.screen is None or backlog.lost:
            self._evidence.screen = None
            return
        screen = backlog.screen
        if screen.generation != self._seen_generation or self._evidence.screen is None:
            self._seen_generation = screen.generation
            rows = screen.rows()
            self._motion.update(rows, now)
            lines = [(line.first_row, line.last_row) for line in screen.lines()]
            evidence = self._evidence
            layout = Layout(rows, screen.cursor[:2], lines, self.profile.composers, evidence.undrafted)
            evidence.asked.set(layout.asked_text, now)
            asked_since = evidence.asked.changed_at
            evidence.screen = ScreenView(
                layout, self._motion, asked_since, alternate=screen.alternate, cursor=screen.cursor.visible
            )

    def _publish(self, change: Change[Rule], events: list[SessionEvent]) -> None:
        rule, at = change.reason, change.at
        if change.state is State.IDLE:
            self._evidence.rested_at = at
        self._evidence.standing = rule.id
        was_idle = change.previous in (State.IDLE, State.UNKNOWN)
        entered = change.state is not change.previous
        if entered and change.previous is State.BLOCKED:
            events.append(ApprovalResolved(at, self._turn))
        if was_idle and change.state is not State.IDLE:
            self._turn += 1
            events.append(TurnStarted(at, self._turn))
        events.append(
            StateChanged(
                at=at,
                state=change.state,
                previous=change.previous,
                rule=f"{self.profile.name}/{rule.id}",
                source=rule.source,
                message=rule.message,
                kind=rule.kind,
                background=rule.background,
                failed=rule.failed,
            )
        )
        if entered and change.state is State.BLOCKED:
            events.append(ApprovalRequested(at, self._turn, rule.message))
        elif change.state is State.IDLE and not was_idle:
            events.append(TurnCompleted(at, self._turn, rule.failed))

    def _press(self, press: keyboard.Press, now: float) -> None:
        if self._draft.press(press, self._evidence, now):
            self._judge_soon(now)

    def _layout_at_key(self) -> Layout | None:
        """Lay out what the user saw when pressing a key; None when the screen is behind."""
        backlog = self._backlog
        if backlog is None or backlog.work(CATCH_UP) or backlog.screen is None:
            return None
        screen = backlog.screen
        lines = [(line.first_row, line.last_row) for line in screen.lines()]
        return Layout(screen.rows(), screen.cursor[:2], lines, ())
