"""The commands: what is typed after `lifecycle-wrap` and is no agent.

`cli` and `cli_*` hold the command lines (typer) over `command_line`; each command's work is in the module of its name.
`sessions` reads what the register holds for `ps`, `watch`, `wait` and `tail`, which `session_table`, `full_screen` and
`directory_changes` serve.
"""
