"""Which profile is for which command line.

Owns the search for built-in profiles; what a command line may be known by, `command_line` says. Must not read users'
files: the wrapper gives their text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path  # noqa: TID251  (for nothing but what comes with us)

from .command_line import candidates
from .format import Profile, parse_profile
from .table import ProfileError

GENERIC = "generic"
_OURS = Path(__file__).parent  # importlib.resources would take a twentieth of all our loading


def builtin_names() -> list[str]:
    """Return the names of the profiles that come with us, sorted."""
    return sorted(file.stem for file in _OURS.glob("*.toml"))


def load_builtin(name: str) -> Profile:
    """Load a profile that comes with us.

    Raises:
        KeyError: there is none of that name.
    """
    return parse_profile(builtin_text(name), f"{name}.toml", load_builtin, trusted=True)


def builtin_text(name: str) -> str:
    """Return the TOML text of a profile that comes with us.

    Raises:
        KeyError: there is none of that name.
    """
    file = _OURS / f"{name}.toml"
    if not file.is_file():
        raise KeyError(name)
    return file.read_text(encoding="utf-8")


class Catalog:
    """All profiles, the user's before ours of the same name.

    Args:
        texts: the user's profiles: file name -> TOML text.

    A user's profile that cannot be read is left out and told in `problems`; ours of that name then serves.
    """

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self.problems: list[ProfileError] = []
        self._texts = dict(texts or {})
        self._user: dict[str, Profile] = {}
        self._files: dict[str, str] = {}
        self._builtin: dict[str, Profile] = {}
        for file, text in self._texts.items():
            try:
                profile = parse_profile(text, file, self.get)
            except ProfileError as error:
                self.problems.append(error)
            else:
                self._user[profile.name] = profile
                self._files[profile.name] = file

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted({*self._user, *builtin_names()})

    def get(self, name: str) -> Profile:
        """Return a profile by name.

        Raises:
            KeyError: there is none.
        """
        if name in self._user:
            return self._user[name]
        if name not in self._builtin:
            self._builtin[name] = load_builtin(name)
        return self._builtin[name]

    def file(self, name: str) -> str:
        """Return the file of a profile of the user, or an empty string for one that comes with us."""
        return self._files.get(name, "")

    def text(self, name: str) -> str:
        """Return a profile's TOML text.

        Raises:
            KeyError: there is none of that name.
        """
        file = self.file(name)
        return self._texts[file] if file else builtin_text(name)

    def for_command(self, argv: Sequence[str]) -> Profile:
        """Return the profile for a command line, `generic` when no other is for it."""
        return self.known_for(argv) or self.get(GENERIC)

    def known_for(self, argv: Sequence[str]) -> Profile | None:
        """Return the profile for a command line, or None when none is for it."""
        for kind, name in candidates(argv):
            found = self._find(kind, name)
            if found is not None:
                return found
        return None

    def _find(self, kind: str, name: str) -> Profile | None:
        for profile in self._user.values():
            if name in _known_by(profile, kind):
                return profile
        quoted = f'"{name}"'
        for builtin in self._likely_first(name):
            # Reading all profiles takes longer than starting an agent; a file without the name need not be parsed.
            if quoted in builtin_text(builtin) and name in _known_by(self.get(builtin), kind):
                return self.get(builtin)
        return None

    def _likely_first(self, name: str) -> list[str]:
        """A profile is mostly named as its command: with it first the others need not be read."""
        names = builtin_names()
        return [name, *(n for n in names if n != name)] if name in names else names


def _known_by(profile: Profile, kind: str) -> frozenset[str]:
    if kind == "command":
        return profile.commands
    return profile.packages if kind == "package" else profile.modules
