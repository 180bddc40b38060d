"""Which agents there are on this machine, for a shell that is just starting.

Owns the search for their commands without the core, whose loading would be felt at each new shell: of every profile
only the head is read, up to its first list of tables; see the format in `lifecycle_detectors.profiles.format`.
"""

from __future__ import annotations

import os
from importlib.machinery import PathFinder

from .environment import settings_folder
from .program import ProgramError, find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ORDINARY = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")

_HEAD_BYTES = 64 * 1024
"""More than any head of a profile."""


def is_command_name(name: str) -> bool:
    """Tell whether a word can be a function's name in every shell and needs no quoting."""
    return bool(name) and _ORDINARY.issuperset(name) and not name.startswith("-")


def profile_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the user's profiles; it may not exist."""
    return f"{settings_folder(environ)}/profiles"


def has_own_profile(name: str) -> bool:
    """Tell whether a profile of this name comes with us."""
    return f"{_own_profiles()}/{name}.toml" in _profiles(_own_profiles())


def known(environ: Mapping[str, str]) -> list[str]:
    """Return the commands of all profiles, ours and the user's, sorted; shells and the like are none."""
    commands: set[str] = set()
    for folder in (_own_profiles(), profile_folder(environ)):
        for path in _profiles(folder):
            commands.update(_commands(path))
    return sorted(filter(is_command_name, commands))


def installed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the known commands that are on PATH, with their paths."""
    found = {}
    for command in known(environ):
        try:
            found[command] = find_program(command, environ)
        except ProgramError:
            continue
    return found


def _own_profiles() -> str:
    spec = PathFinder.find_spec("lifecycle_detectors")
    if spec is None or not spec.submodule_search_locations:
        return ""
    return f"{next(iter(spec.submodule_search_locations))}/profiles"


def _profiles(folder: str) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith(".toml"):
            yield f"{folder}/{name}"


def _commands(path: str) -> list[str]:
    from .bounded_toml import load_toml

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            profile = load_toml(_head(file.read(_HEAD_BYTES)))
        commands = [] if profile.get("follow") else profile["match"]["commands"]
        return [command for command in commands if isinstance(command, str)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # told where profiles are loaded


def _head(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("[["):
            break
        lines.append(line)
    return "\n".join(lines)
