"""The I/O shell of lifecycle-wrap: PTY, outer terminal, hosts, configuration, commands.

Where things are:

- From the command line to the agent: `__main__`, `arguments`, `launch`, `program`, `environment`, `headless`.
- The byte path: `child` and `monitor` (the agent in its PTY), `outer` (the user's terminal), `pump` with `byte_queue`,
  `readiness` and `signals`, `relay` (the copy loop when all else fails), `lean`, `log`.
- What looks at the bytes: `observation` (the face, and the guard before it), `loading`, `observer` (the wiring of the
  core, the terminal and the hosts), `foreground`.
- What the outer terminal is told: `outward` over `probe`, `terminals`, `emitter`, `title_prefix`, `attention` and
  `cells`; `reset` repairs it.
- What the hosts are told: `projection` (the canonical event), `manager` and `worker`, the adapters in `hosts/`.
- Settings: `config` and its template, `catalog` (profiles on disk), `agents` (which are installed).
- Commands: `cli` and `cli_*` with `command_line`; each command's work is in the module of its name. Recordings:
  `recording` (reader), `recorder` (writer), `replay`, `scoring`, `explain`, `timeline`, `picture`, `drawing` and
  `progress`.
"""

__version__ = "0.1.0"
