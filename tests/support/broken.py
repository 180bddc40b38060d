"""Our own faults: the real program with a part that breaks."""

from __future__ import annotations

from tests.support.place import patched

FAULTS = {
    "the observer, at once": "observer.SessionObserver.look = boom",
    "the observer, later": "observer.SessionObserver.look = after(3, observer.SessionObserver.look)",
    "the observer, at the end": "observer.SessionObserver.child_exited = boom",
    "the session": "session.Session.receive_output = after(2, session.Session.receive_output)",
    "the modes": "modes.Modes.feed = after(2, modes.Modes.feed)",
    "the undoing": "modes.Modes.undo = boom",
    "loading": "observer.make_observer = boom",
    "the pump": "pump.Pump._do_what_is_due = after(3, pump.Pump._do_what_is_due)",
    "the pump, at the end": "pump.Pump.finish = boom",
}
"""What breaks, and when."""
NOTHING_KNOWN = {"the modes", "the undoing", "loading", "SIGKILL"}
"""With these faults nobody can know what was pushed to the title stack, nor where the cursor is."""
BREAKER = """
from lifecycle_detectors import modes, session
from lifecycle_wrap import observer
from lifecycle_wrap.pty import pump
def boom(*_, **__):
    raise RuntimeError("broken by the test")
def after(count, real):
    calls = iter(range(count))
    return lambda *args, **rest: real(*args, **rest) if next(calls, None) is not None else boom()
{fault}
"""


def broken(fault: str) -> list[str]:
    """Return the program's command line with that fault."""
    return patched(BREAKER.format(fault=FAULTS[fault]))
