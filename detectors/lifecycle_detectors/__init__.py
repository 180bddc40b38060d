"""The pure core of lifecycle-wrap: bytes, keystrokes, sizes and times in; events out.

Everything about *what the agent is doing* lives here, without I/O, clock, threads or environment. Whoever wants to know
an agent's state from its terminal output can use it alone::

    from lifecycle_detectors import Catalog, Session, Size, StateChanged, make_screen

    profile = Catalog().for_command(["claude"])
    session = Session(profile, Size(rows=30, columns=100), now=0.0, screen=make_screen)
    for now, data in terminal_output:
        events = session.receive_output(data, now)      # also receive_input, resize, child_exited
        while session.next_deadline is not None and session.next_deadline <= now:
            events += session.tick(session.next_deadline)
        for event in events:
            if isinstance(event, StateChanged):
                print(event.at, event.state, event.rule)
"""

from .events import (
    ApprovalRequested,
    ApprovalResolved,
    Attention,
    ExitStatus,
    ForegroundProcess,
    Message,
    ProfileChanged,
    ProgressChanged,
    SessionEnded,
    SessionEvent,
    Size,
    Source,
    StateChanged,
    TitleChanged,
    TurnCompleted,
    TurnStarted,
    WorkingDirectoryChanged,
)
from .explanation import Explanation, Finding, printable, wording
from .profiles import Catalog, Profile, ProfileError
from .screen import make_screen
from .session import Session
from .states import State

__all__ = [
    "ApprovalRequested",
    "ApprovalResolved",
    "Attention",
    "Catalog",
    "ExitStatus",
    "Explanation",
    "Finding",
    "ForegroundProcess",
    "Message",
    "Profile",
    "ProfileChanged",
    "ProfileError",
    "ProgressChanged",
    "Session",
    "SessionEnded",
    "SessionEvent",
    "Size",
    "Source",
    "State",
    "StateChanged",
    "TitleChanged",
    "TurnCompleted",
    "TurnStarted",
    "WorkingDirectoryChanged",
    "make_screen",
    "printable",
    "wording",
]
