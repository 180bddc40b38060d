"""The I/O shell of lifecycle-wrap: PTY, outer terminal, hosts, configuration, commands.

Where things are:

- From the command line to the agent: `__main__`, `arguments`, `launch`, `program`, `environment`, `headless`.
- `pty/`, the byte path; `lean` and `log` serve it.
- What looks at the bytes: `looking` (the face), `observation` (the guard before it), `loading`, `observer` (the wiring
  of the core, the terminal and the hosts), `foreground`.
- `terminal/`, what the outer terminal is told; `hosts/`, the adapters of everything else that is told, with
  `projection` (the canonical event), `manager` and `worker` before them.
- Settings: `config`, `broker_config`, `catalog` (profiles on disk), `agents` (which are installed).
- `commands/`, and `recordings/` for those that read or write one; `pytest_plugin` tests profiles on them.
"""

__version__ = "0.1.0"
