"""The outer terminal: which one it is, what it is told, and how it is repaired.

- `probe` asks it who it is; `terminals` is the table of what each can draw.
- `outward` decides what it is told, over `emitter` (when a sequence may go out), `title_prefix` and `attention`
  (notifications); `cells` cuts text to a width.
- `reset` repairs a terminal that somebody else left broken.
"""
