"""Hostile values in the environment and hostile files: hosts' ids, recordings, profiles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle_detectors.profiles import ProfileError, load_builtin, parse_profile
from lifecycle_detectors.profiles import format as profile_format
from lifecycle_wrap import bounded_toml, config
from lifecycle_wrap.agents import known as known_commands
from lifecycle_wrap.catalog import user_catalog
from lifecycle_wrap.commands import sessions
from lifecycle_wrap.hosts import cmux, cmux_tui, herdr, tmux, zellij
from lifecycle_wrap.hosts.base import Call, Host, HostError, Setup, host_id
from lifecycle_wrap.hosts.records import list_sessions
from lifecycle_wrap.hosts.register import Register
from lifecycle_wrap.recordings.recording import RecordingError, open_recording
from tests.support.captured import ENVIRON, CaughtCall, Sent
from tests.support.events import event, release

VALUES = {
    "empty": "",
    "blank": " \t ",
    "an option": "--help",
    "a sequence": "\x1b]0;x\x07",
    "lines": "a\nb",
    "shell": "$(touch PWNED);`touch PWNED`",
    "bidi": "\u202egnp.exe",
    "no UTF-8": "a\udcffb",
    "endless": "x" * 100_000,
    "a path": "../../../etc/passwd",
    "tmux formats": "#(touch PWNED)#{q:x};",
}
VARIABLES = ("HERDR_PANE_ID", "ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME", "TMUX_PANE", "TMUX")
VARIABLES += ("CMUX_SURFACE_ID", "CMUX_WORKSPACE_ID", "CMUX_TUI_TERMINAL_ID", "CMUX_TUI_SOCKET", "HERDR_SOCKET_PATH")
HOSTS = (herdr.Herdr, zellij.Zellij, tmux.Tmux, cmux.Cmux, cmux_tui.CmuxTui)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with the programs of all hosts, none of which is ever run."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("herdr", "zellij", "tmux", "cmux"):
        (folder / name).touch(mode=0o755)
    monkeypatch.setattr(cmux, "ON_MACOS", True)
    return str(folder)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("variable", VARIABLES)
def test_an_id_is_an_argument_or_nothing(tmp_path: Path, tools: str, variable: str, value: str) -> None:
    """A host that is detected nevertheless gets short printable arguments, none of which the id made an option."""
    environ = {
        **ENVIRON,
        "TMUX": "/tmp/t,1,0",
        "PATH": tools,
        "XDG_RUNTIME_DIR": str(tmp_path),
        variable: VALUES[value],
    }
    for kind in HOSTS:
        if not kind.detect(environ).detected:
            continue
        sent = tell(kind(Setup(environ, tty="/dev/pts/1")))
        for argv, _ in sent.commands:
            assert all(len(argument) < 1000 and "\n" not in argument and "\x1b" not in argument for argument in argv)
            assert "--help" not in argv[1:] or "rename-pane" in argv
        record(kind(Setup(environ, tty="/dev/pts/1")), environ)


def tell(host: Host) -> Sent:
    sent = Sent()
    for one in (event("working"), event("blocked"), release()):
        call = CaughtCall(sent)
        try:
            host.prepare(call)
            (host.publish if one.state else host.release)(one, call)
        except HostError:
            continue
    return sent


def record(host: Host, environ: dict[str, str]) -> None:
    """The place of a hostile id stands in the register; reading and showing it does no harm."""
    register = Register(Setup(environ, place=host.place()))
    register.prepare(Call(5.0))
    register.publish(event("working"), Call(5.0))
    [session] = list_sessions(Path(environ["XDG_RUNTIME_DIR"]) / "lifecycle-wrap")
    assert sessions.terminal(session).isprintable()
    sessions.fill_in("{focus}", [session], 0.0)[0].encode()
    register.release(release(), Call(5.0))


@pytest.mark.parametrize("value", VALUES)
def test_what_can_be_an_id(value: str) -> None:
    found = host_id({"ID": VALUES[value]}, "ID")
    assert len(found) <= 256
    assert found.isprintable()
    assert not found.startswith("-")
    assert bool(found) == (value in ("shell", "endless", "a path", "tmux formats"))


BOMBS = {
    "deep": b'{"version": 2, "width": 80, "height": 24}\n' + b"[" * 200_000 + b"\n",
    "deep header": b"[" * 200_000 + b"\n",
    "huge number": b'{"version": 2, "width": 80, "height": 24}\n[1' + b"0" * 100_000 + b', "o", "x"]\n',
    "huge size": b'{"version": 2, "width": 1000000, "height": 24}\n',
    "not a number": b'{"version": 2, "width": 80, "height": 24}\n[NaN, "o", "x"]\n',
    "infinite": b'{"version": 2, "width": 80, "height": 24}\n[1e999, "o", "x"]\n',
    "backwards": b'{"version": 2, "width": 80, "height": 24}\n[-1, "o", "x"]\n',
    "no gzip": b"\x1f\x8b\x08\x00rubbish",
    "no UTF-8": b'{"version": 2, "width": 80, "height": 24}\n[1, "o", "\xff"]\n',
    "NUL": b"\0" * 1000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_recording_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / ("x.cast.gz" if name == "no gzip" else "x.cast")
    path.write_bytes(BOMBS[name])
    with pytest.raises(RecordingError) as caught:
        list(open_recording(path))
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    assert len(text) < 500 + len(str(path))


TOML_BOMBS = {
    "deep": "x = " + "[" * 50_000,
    "dotted": "a." * 30_000 + "b = 1",
    "dotted in quotes": "'a'." * 15_000 + "b = 1",
    "a table's name dotted": f"[{'a.' * 30_000}b]",
    "long": "x = 1\n" + "# nothing\n" * 7_000,
    "huge number": "schema = " + "9" * 100_000,
    "many rules": 'schema = 1\nname = "x"\n' + "[[rule]]\n" * 50_000,
    "a pattern that runs away": 'schema = 1\nname = "x"\n[[rule]]\nid = "r"\nstate = "idle"\n'
    "all = [{ title = '(a|a)*b' }]\n",
}


@pytest.mark.parametrize("name", TOML_BOMBS)
def test_a_hostile_profile_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(ProfileError) as caught:
        parse_profile(TOML_BOMBS[name], "mine.toml", load_builtin)
    text = str(caught.value)
    assert text.startswith("mine.toml")
    assert "\n" not in text


@pytest.mark.parametrize("name", TOML_BOMBS)
def test_a_hostile_configuration_is_told_in_lines(name: str) -> None:
    _, problems = config.parse_config(TOML_BOMBS[name], "config.toml")
    assert problems
    assert all("\n" not in str(problem) and len(str(problem)) < 2000 for problem in problems)


def test_a_configuration_or_profile_that_never_ends_is_told(tmp_path: Path) -> None:
    _, (problem,) = config.load_config(Path("/dev/zero"), {})
    assert str(problem).startswith("lifecycle-wrap: /dev/zero: it has more than 65536 characters")
    folder = tmp_path / "lifecycle-wrap" / "profiles"
    folder.mkdir(parents=True)
    (folder / "endless.toml").symlink_to("/dev/zero")
    (told,) = user_catalog({"XDG_CONFIG_HOME": str(tmp_path)}).problems
    assert "more than 65536 characters" in str(told)
    assert known_commands({"XDG_CONFIG_HOME": str(tmp_path)})


def test_a_hostile_record_is_no_session(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    for number, text in enumerate((b"[" * 200_000, b"{" * 10, b"1" * 100_000, json.dumps({"version": 1}).encode())):
        (tmp_path / f"{number}-a.json").write_bytes(text)
    assert list_sessions(tmp_path) == []


def test_a_profile_is_bounded_alike_by_all_who_read_it() -> None:
    assert (bounded_toml.MAX_LENGTH, bounded_toml.MOST_DOTS) == (profile_format.MAX_LENGTH, profile_format.MOST_DOTS)
