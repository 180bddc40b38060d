"""Recordings (asciicast v2): written, read, measured, drawn.

- `recorder` writes one while the agent runs, `recording` reads it, `scoring` compares states with its markers.
- `timeline` and `picture` draw it, over `drawing`; `progress` is the bar of a long replay.
"""
