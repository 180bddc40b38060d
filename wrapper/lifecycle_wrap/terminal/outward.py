"""Between the agent and the outer terminal: all that we take out of the two streams, and all that we put in.

Owns the order of the parts and the one rule for bytes of ours: they go out only at a safe point, with every byte of the
agent that was passed looked at, between whole sequences and characters, outside a synchronized update. Where the agent
stops in the middle of one, nothing is sent. Each part is in a module of its own; the core's stream tells the points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lifecycle_detectors import Profile, SessionEnded, SessionEvent, State, StateChanged, TitleChanged, TurnCompleted
from lifecycle_detectors.answer import StatusQueryAnswer
from lifecycle_detectors.controls import BEL, OscNumber
from lifecycle_detectors.modes import Place
from lifecycle_detectors.osc_filter import OscFilter
from lifecycle_detectors.parser import Osc
from lifecycle_detectors.put_back import Answered, PutBack
from lifecycle_detectors.stream import OutputStream
from lifecycle_wrap.config import Config
from lifecycle_wrap.hosts.outer import adapter, in_band
from lifecycle_wrap.projection import without_spinner

from .attention import FocusWatch, Notifier
from .emitter import ProgressBar, StatusReporter
from .probe import Probe
from .terminals import identify
from .title_prefix import MARKS, TitlePrefix

STATUS_QUERY = b"7501;?"
FOCUS = 1004

_TITLES = {OscNumber.TITLE_AND_ICON, OscNumber.TITLE}
_NOT_ASKED = ("dumb", "unknown", "linux", "eterm", "cons25")
"""How TERM begins where a question would be printed, or change a keyboard's lights."""


class Outward:
    """One session's part between the two.

    Args:
        config: what the user wants.
        profile: the agent's.
        agent: its name.
        environ: our environment.
        stream: the agent's output, as it is looked at.

    Attributes:
        terminal: what is known of the outer terminal.
    """

    def __init__(
        self, config: Config, profile: Profile, agent: str, environ: Mapping[str, str], stream: OutputStream
    ) -> None:
        on = config.enabled
        self._environ = environ
        self._stream = stream
        self._answer = StatusQueryAnswer() if on and config.program_status == "answer" else None
        self._probe = Probe()
        self._asks = self._answer is not None and _may_be_asked(environ.get("TERM", ""))
        self._bar = ProgressBar(config.osc if on else "off")
        self._reporter = StatusReporter(agent, config.titles)
        self._title = TitlePrefix(MARKS.get(config.title) if on else None, agent)
        self._focus = FocusWatch(on and config.notify == "unfocused")
        self._notifier = Notifier(
            config.notify if on else "off", agent, config.notify_blocked_after, config.notify_turn_after
        )
        self._in_band = in_band(config, environ, agent)
        self._prefixes_titles = on and config.title in MARKS
        self._put_back = PutBack(Answered())
        self.use_profile(profile)
        numbers = {OscNumber.PROGRAM_STATUS, *_TITLES} if self._answer else set()
        numbers |= _TITLES if self._prefixes_titles else set()
        numbers |= {OscNumber.CONEMU} if on and config.osc != "off" else set()
        self._filter = OscFilter(numbers, self._decide) if numbers else None
        self._adapt = adapter(config, environ)
        self._known: tuple[str | None, bool | None] = (None, None)
        self._is_ours = False
        self._passed = 0
        self._now = 0.0
        self._resets = 0
        self._state = State.UNKNOWN
        self._ended: SessionEnded | None = None
        self._identify()

    def use_profile(self, profile: Profile) -> None:
        """Another program has come to the foreground."""
        answered = profile.answered or Answered()
        self._put_back.answered = replace(answered, titles={}, unfocused={}) if self._prefixes_titles else answered

    def output(self, data: bytes, now: float) -> bytes:
        """Take the agent's bytes, give what goes out now."""
        self._passed += len(data)
        self._now = now
        self._focus.saw_output(data)
        if self._filter is None:
            self._probe.saw_output(data)
            return data
        data = self._filter.filter(data)
        try:
            self._probe.saw_output(data)
        except MemoryError:  # a question may be missed; what was filtered is not asked for a second time
            return data
        return data

    def input(self, data: bytes, now: float) -> bytes:
        """Take the outer terminal's bytes, give what the agent gets."""
        data = self._probe.filter_input(data, now)
        data = self._past_focus(data, now) if data else data
        if self._known != (self._probe.version, self._probe.knows_status):
            self._identify()
        return data

    def input_gone(self, data: bytes, now: float) -> None:
        """Take the outer terminal's bytes that the agent has got already."""
        self._focus.filter_input(self._probe.filter_input(data, now), now)
        if self._answer is not None:
            self._answer.saw_input(data)

    def flush_output(self) -> bytes:
        """Give up what `output` holds."""
        return self._filter.flush() if self._filter else b""

    def flush_input(self) -> bytes:
        """Give up what `input` holds."""
        oldest = self._answer.flush() if self._answer else b""
        return oldest + self._focus.flush() + self._probe.flush()

    def take_terminal(self) -> None:
        """The outer terminal is ours: from now on it may be asked and written to."""
        self._is_ours = True

    def give_terminal(self) -> None:
        """It is about to be left: nothing more is written but by `leave`."""
        self._is_ours = False

    def take(self, events: Sequence[SessionEvent]) -> None:
        """Take what the session tells."""
        for event in events:
            self._notifier.take(event)
            match event:
                case StateChanged():
                    self._state = event.state
                    self._focus.take_state()
                    self._bar.take_state(event)
                    self._reporter.take_state(event)
                    self._title.take_state(event.state)
                    for host in self._in_band:
                        host.take_state(event)
                case TurnCompleted():
                    self._reporter.completed(self._focus.has_focus)
                case TitleChanged(title=title):
                    self._reporter.take_title(without_spinner(title))
                case SessionEnded():
                    self._ended = event

    @property
    def deadline(self) -> float | None:
        """When `on_deadline` is due; nothing is waited for that could not be written."""
        due = [self._probe.deadline, self._focus.deadline, self._answer.deadline if self._answer else None]
        if self._may_write:
            due += [self._bar.deadline, self._notifier.deadline, self._put_back.deadline]
            due += [host.deadline for host in self._in_band]
        return min((at for at in due if at is not None), default=None)

    def on_deadline(self, now: float) -> bytes:
        """Do what is due; returns bytes for the agent. What goes out, `update` tells."""
        released = self._past_answer(self._focus.on_deadline(now), now)
        held = self._probe.on_deadline(now)
        released += self._past_focus(held, now) if held else b""
        if self._answer is not None and self._answer.deadline is not None and now >= self._answer.deadline:
            released += self._answer.on_deadline(now)
        return released

    def update(self, now: float) -> bytes:
        """Return what is to be written now, if it may be."""
        modes = self._stream.modes
        self._focus.correct(modes.is_set(FOCUS))
        if modes.resets != self._resets:
            self._resets = modes.resets
            self._forget()
        if not self._may_write:
            return b""
        if self._asks and not self._probe.asked:
            return self._probe.ask(now)
        if self._asks and not self._probe.settled:
            return b""
        if self._focus.has_focus:
            self._reporter.focused()
        parts = [part.update(now) for part in (self._focus, self._title, self._bar, self._reporter)]
        parts += [host.update(now) for host in self._in_band]
        parts.append(self._put_back.give_up() if self._terminal_answers else self._put_back.next_frame(now))
        return b"".join(parts) + self._notifier.update(now, self._focus.has_focus)

    @property
    def awaits_answers(self) -> bool:
        """The terminal may still answer our question: no other program must get to read that."""
        return self._probe.asked and not self._probe.settled and self._probe.awaits_answers

    def leave(self, place: Callable[[], Place | None] | None) -> bytes:
        """Return what leaves the outer terminal as it was found.

        Args:
            place: asked, where it matters, for where the cursor stands on the main screen; None where nobody knows.
        """
        self._is_ours = False
        return self._stream.undo(place, self.terminal.start, self._not_its_own) + self._take_back()

    def withdraw(self) -> bytes:
        """Return what takes back what we show, if it may be written now; nothing of ours is written after it."""
        taken_back = self._take_back() if self._may_write else b""
        self._is_ours = False
        return taken_back

    def come_back(self, now: float) -> bytes:
        """Return what sets it again."""
        self._is_ours = True
        self._forget()
        again = self._stream.modes.redo(start=self.terminal.start, without=self._not_its_own)
        return again + self.update(now) + (self._put_back.come_back(now) if self._may_write else b"")

    @property
    def _not_its_own(self) -> Sequence[str]:
        """What of the agent's own does not stand in the terminal, or is not to be touched there."""
        return ("progress",) if self._bar.is_ours or self.terminal.misreads_progress else ()

    def _take_back(self) -> bytes:
        parts = (self._bar, self._reporter, self._title, self._focus, self._put_back)
        told = b"".join(host.leave() for host in self._in_band)
        return told + b"".join(part.leave() for part in parts) + self._title_of_rest()

    @property
    def _may_write(self) -> bool:
        stream = self._stream
        all_seen = stream.position == self._passed
        return self._is_ours and all_seen and stream.at_ground and not stream.in_synchronized_update

    @property
    def _terminal_answers(self) -> bool:
        return bool(self._probe.knows_status or (self._answer and self._answer.outer_answers))

    def _identify(self) -> None:
        self._known = (self._probe.version, self._probe.knows_status)
        self.terminal = terminal = self._adapt(identify(self._environ, self._probe.version))
        self._put_back.between = terminal.is_multiplexer
        for part in (self._bar, self._title, self._focus, self._notifier):
            part.use(terminal)
        for host in self._in_band:
            host.use(terminal)
        self._reporter.use(terminal, bool(self._probe.knows_status))

    def _forget(self) -> None:
        for part in (self._bar, self._reporter, self._title, self._focus):
            part.forget()

    def _past_focus(self, data: bytes, now: float) -> bytes:
        data = self._focus.filter_input(data, now)
        self._put_back.has_focus = self._focus.has_focus is not False
        return self._past_answer(data, now)

    def _past_answer(self, data: bytes, now: float) -> bytes:
        return self._answer.filter_input(data, now) if self._answer is not None and data else data

    def _decide(self, osc: Osc) -> bytes | None:
        """Say what goes out in the place of an OSC sequence of the agent; None for itself."""
        number = int(osc.data.partition(b";")[0])
        if number == OscNumber.CONEMU:
            return self._bar.take_agents(osc)
        if self._answer is not None and self._answer.outer_answers is False and not self._terminal_answers:
            self._put_back.active = True
        if number in _TITLES:
            if self._prefixes_titles:
                return self._title.take_agents(osc, self._is_ours)
            return self._put_back.title(osc, self._now)
        return self._decide_status(osc)

    def _decide_status(self, osc: Osc) -> bytes | None:
        assert self._answer is not None
        if osc.data == STATUS_QUERY:
            self._answer.saw_query(self._now)
            return None
        self._reporter.take_agents(osc, self._terminal_answers)
        if self._terminal_answers:
            return None
        instead = self._put_back.report(osc, self._now)
        if instead[:1] == bytes((BEL,)):
            self._notifier.agent_notified(self._now)
        return instead

    def _title_of_rest(self) -> bytes:
        """A dead agent's title must not say that it works: give it without its mark."""
        ended = self._ended
        ended_well = ended is None or (ended.status.signal is None and self._state in (State.IDLE, State.UNKNOWN))
        if ended_well or self._prefixes_titles or self._put_back.active:
            return b""
        title = self._stream.modes.standing_title.decode("utf-8", "replace")
        rest = without_spinner(title)
        return b"\x1b]2;" + rest.encode() + self.terminal.terminator if rest not in ("", title) else b""


def _may_be_asked(term: str) -> bool:
    return bool(term) and not term.startswith(_NOT_ASKED)
