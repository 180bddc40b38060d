"""Standard modules without their slow halves, for what runs before the agent and its first bytes.

`signal` wraps the C module `_signal` in enums, and importing `enum` takes longer than starting the agent.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

__all__ = ["signal"]
