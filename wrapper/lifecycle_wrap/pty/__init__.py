"""The byte path: the agent in its PTY and the user's terminal, every byte of each to the other.

- `child` and `monitor`: the agent's start, and the process that leads its session (job control).
- `outer`: the user's terminal, its modes and their restoring. `process_name`: what others see in it run.
- `pump` with `byte_queue`, `readiness` and `signals`: the loop. `relay`: the copy loop when all else fails.

Nothing here knows an agent, a host or a sequence's meaning.
"""
