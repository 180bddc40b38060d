"""Which profile is for which command line.

Owns the search for built-in profiles and the reading of an agent's command line through the launchers people start
agents with. Must not read users' files: the wrapper gives their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path  # noqa: TID251  (for nothing but what comes with us)

from .format import Profile, parse_profile
from .table import ProfileError

GENERIC = "generic"
_OURS = Path(__file__).parent  # importlib.resources would take a twentieth of all our loading
_SUFFIX = re.compile(r"\.(?:js|mjs|cjs|ts|py|exe|cmd|sh)$")
_VERSION = re.compile(r"(?<=[^@])@[^/]*$")
_WRAPPED = re.compile(r"^\.(.+)-(?:un)?wrapped$")  # nix: .claude-unwrapped, .claude-wrapped
_PACKAGE_RUNNERS = frozenset({"npx", "bunx", "uvx", "pipx"})
_RUNNER_VERBS = frozenset({"dlx", "x", "exec", "run", "tool", "--bun"})
_INTERPRETERS = frozenset({"node", "bun", "deno", "tsx"})
_PREFIXES = frozenset(
    {"env", "sudo", "doas", "nice", "ionice", "nohup", "time", "timeout", "command", "exec", "stdbuf", "setsid"}
    | {"caffeinate", "unbuffer"}
)
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun", "uv", "pipx"})
_ENVIRONMENTS = frozenset(
    {"mise", "asdf", "volta", "proto", "poetry", "pdm", "hatch", "rye", "pixi", "conda", "nix", "devbox", "flox"}
    | {"op", "doppler", "infisical", "aws-vault", "direnv", "dotenv"}
)
"""They run the command after `--`, or after `run` or `exec`, in an environment of theirs."""
_DURATION = re.compile(r"^\d+(?:\.\d+)?[smhd]?$")
_PYTHON = re.compile(r"^(?:python|pypy)[\d.]*$")
_OPTIONS_WITH_VALUE = frozenset({"-p", "--package", "--from", "--with", "--python", "-u", "-C", "-n", "-c"})


def basename(path: str) -> str:
    """Return a command's name: the last part of its path without an interpreter's suffix or a package's version."""
    name = path.rstrip("/").replace("\\", "/").rsplit("/", 1)[-1]
    name = _SUFFIX.sub("", name).removeprefix("-")  # a login shell's: -zsh
    wrapped = _WRAPPED.match(name)
    return wrapped[1] if wrapped else name


def candidates(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what a command line may be known by: `("command" | "package" | "module", name)`, best first."""
    words = list(argv)
    while words:
        word = words.pop(0)
        name = basename(word)
        yield "command", name
        if name in _PREFIXES:
            words = _skip_options(words, assignments=True)
        elif _PYTHON.match(name):
            yield from _python(words)
            return
        elif name in _INTERPRETERS | _PACKAGE_RUNNERS | _MANAGERS:
            words = [w for w in _skip_options(words, assignments=False) if w not in _RUNNER_VERBS]
            if words:
                yield "package", _VERSION.sub("", words[0])
                yield "package", _package_of(words[0])
                yield "command", basename(_VERSION.sub("", words[0]))
            return
        elif name in _ENVIRONMENTS:
            words = _after_environment(words)
        else:
            return


def _after_environment(words: Sequence[str]) -> list[str]:
    for mark in ("--", "run", "exec", "x"):
        if mark in words:
            return list(words[words.index(mark) + 1 :])
    return []


def _skip_options(words: Sequence[str], *, assignments: bool) -> list[str]:
    left = list(words)
    while left:
        if left[0] in _OPTIONS_WITH_VALUE:
            if left[0] in ("-p", "--package", "--from") and len(left) > 1:
                return left[1:2]
            del left[:2]
        elif left[0].startswith("-") or left[0] in _RUNNER_VERBS or (assignments and _is_for_prefix(left[0])):
            del left[0]
        else:
            break
    return left


def _is_for_prefix(word: str) -> bool:
    """Tell whether a word is `env`'s assignment or `timeout`'s duration."""
    return "=" in word or bool(_DURATION.match(word))


def _python(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    left = list(words)
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option == "-m" and left:
            yield "module", left[0]
            yield "module", left[0].partition(".")[0]
            return
        if option in ("-X", "-W") and left:
            del left[0]
    if left:
        yield "command", basename(left[0])


def _package_of(path: str) -> str:
    """Return the npm package whose file this is: what follows the last `node_modules/`."""
    parts = path.replace("\\", "/").split("/node_modules/")[-1].split("/")
    return "/".join(parts[:2]) if parts[0].startswith("@") else parts[0]


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
