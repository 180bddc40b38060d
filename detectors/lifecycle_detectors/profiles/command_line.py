"""Which program a command line starts, seen through what people start agents with.

Owns the knowledge of launchers: prefixes (`env`, `timeout`), package runners, interpreters, tool managers, and shells
that are given a script. Knows no agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

_SUFFIX = re.compile(r"\.(?:js|mjs|cjs|ts|py|exe|cmd|sh)$")
_VERSION = re.compile(r"(?<=[^@])@[^/]*$")
_WRAPPED = re.compile(r"^\.(.+)-(?:un)?wrapped$")  # nix: .claude-unwrapped, .claude-wrapped
_PACKAGE_RUNNERS = frozenset({"npx", "bunx", "uvx", "pipx"})
_RUNNER_VERBS = frozenset({"dlx", "x", "exec", "run", "tool", "--bun"})
_SHELLS = frozenset({"ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"})
_INTERPRETERS = frozenset({"node", "bun", "deno", "tsx"})
_EVALUATES = frozenset({"-e", "--eval", "-p", "--print"})
"""An interpreter's options before a program text."""
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
_SHELL_WORDS = frozenset({"!", "{", "if", "then", "elif", "else", "while", "until", "do"})
"""After them a command begins."""
_SCRIPT_OPTION = re.compile(r"^-[A-Za-z]*c[A-Za-z]*$")
_ASSIGNMENT = re.compile(r"^\w+=")
_NAME = re.compile(r"^[^\s/]{1,64}$")
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
        if name in _SHELLS:
            for command in _script(words):
                yield from candidates(command)
        yield "command", name
        if name in _PREFIXES:
            words = _skip_options(words, assignments=True)
        elif _PYTHON.match(name):
            yield from _python(words)
            return
        elif name in _INTERPRETERS | _PACKAGE_RUNNERS | _MANAGERS:
            if name in _INTERPRETERS and words and words[0] in _EVALUATES:
                return
            words = [w for w in _skip_options(words, assignments=False) if w not in _RUNNER_VERBS]
            if words and _is_launcher(words[0]):
                continue
            if words:
                yield from _package(words[0])
            return
        elif name in _ENVIRONMENTS:
            words = _after_environment(words)
        else:
            return


def program_name(argv: Sequence[str]) -> str:
    """Return what the program is called that a command line starts; its first word's name where that is not clear."""
    first = basename(argv[0])
    if first in _SHELLS:
        return first
    names = [name.rpartition("/")[2] for _, name in candidates(argv)]
    return next((name for name in reversed(names) if _NAME.match(name)), first)


def is_script(argv: Sequence[str]) -> bool:
    """Tell whether a command line is that of a shell that runs a script, not of one that somebody types into."""
    return bool(argv) and basename(argv[0]) in _SHELLS and any(not word.startswith(("-", "+")) for word in argv[1:])


def _script(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the commands of the script that a shell is given by `-c`, as far as they can be told without running it."""
    script, parameters = _given_script(words)
    command: list[str] = []
    for word in [*_tokens(script), ";"]:
        if word.strip("();&|") == "" or (not command and word in _SHELL_WORDS):
            if command:
                yield command
            command = []
        elif word == "$@":
            command += parameters[1:]
        elif word == "$0":
            command += parameters[:1]
        elif command or not _ASSIGNMENT.match(word):
            command.append(word)


def _given_script(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the script after a shell's `-c`, and the words after it: its `$0` and its parameters."""
    left = list(words)
    while left and left[0].startswith(("-", "+")):
        option = left.pop(0)
        if _SCRIPT_OPTION.match(option) and left:
            return left[0], left[1:]
        if option[1:] in ("o", "O") and left:
            del left[0]
    return "", ()


def _tokens(script: str) -> list[str]:
    """Return the words and operators of a script, up to where its quotes do not match."""
    from shlex import shlex

    lexer = shlex(script.replace("\n", ";"), posix=True, punctuation_chars="();&|")
    lexer.whitespace_split, lexer.commenters = True, ""
    tokens: list[str] = []
    with suppress(ValueError):
        tokens += lexer
    return tokens


def _package(word: str) -> Iterator[tuple[str, str]]:
    """Yield what a package, or a file of one, may be known by."""
    path, package = _VERSION.sub("", word), _package_of(word)
    yield "package", path
    if "/node_modules/" in word and not package.startswith("."):
        yield "command", basename(path)
        yield "package", package
    else:
        yield "package", package
        yield "command", basename(path)


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


def _is_launcher(word: str) -> bool:
    name = basename(word)
    return bool(_PYTHON.match(name)) or name in _PREFIXES | _INTERPRETERS | _SHELLS


def _is_for_prefix(word: str) -> bool:
    """Tell whether a word is `env`'s assignment or `timeout`'s duration."""
    return "=" in word or bool(_DURATION.match(word))


def _python(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    left = list(words)
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option == "-c":
            return
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
