"""No host is given content: recordings with secrets planted in them are told, and the secrets are looked for.

`python -m tests.wrapper.test_payload DIR` does the same for any folder of recordings.
"""

from __future__ import annotations

import base64
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from lifecycle_wrap.catalog import user_catalog
from lifecycle_wrap.commands.replay import new_session, profile_for, walk
from lifecycle_wrap.projection import Identity, Projector
from lifecycle_wrap.recordings.recording import INPUT, OUTPUT, RecordedEvent, Recording, open_recording
from tests.support.captured import all_hosts

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"

SECRETS = {name: f"SECRET-{name}-4711" for name in ("prompt", "output", "title", "status", "notice", "environment")}
_STATUS = base64.b64encode(SECRETS["status"].encode()).decode()

PLANTED = {
    INPUT: f"{SECRETS['prompt']}\r",
    OUTPUT: (
        f"\x1b]2;{SECRETS['title']}\x07"
        f"\x1b]7501;state=working:title={_STATUS}:msg={_STATUS}\x1b\\"
        f"\x1b]9;{SECRETS['notice']}\x07\x1b]777;notify;{SECRETS['notice']};{SECRETS['notice']}\x07"
        f"\x1b]99;;{SECRETS['notice']}\x1b\\"
        f"\x1b[s\r\n{SECRETS['output']} Do you want to run {SECRETS['output']}?\x1b[u"
    ),
}
EVERY = 20
"""Something is planted at every so many events."""


class Planted:
    """A recording with secrets in it."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __iter__(self) -> Iterator[RecordedEvent]:
        for number, event in enumerate(self._recording):
            yield event
            if number % EVERY == 0:
                for kind, text in PLANTED.items():
                    yield RecordedEvent(event.at, kind, text)


def found(path: Path, folder: Path, *, titles: bool) -> dict[str, list[str]]:
    """Return which secrets of a recording reached which host."""
    recording = open_recording(path)
    profile = profile_for(recording, user_catalog({"HOME": os.devnull}))
    identity = Identity(profile.name, 1, "/work", "run", ("lifecycle-wrap", "--"), profile.resume)
    projector = Projector(identity, iter(range(1, 1 << 40)).__next__, titles=titles)
    environ = {"SECRET": SECRETS["environment"]}
    with pytest.MonkeyPatch.context() as patch, all_hosts(patch, folder, environ) as hosts:
        for event in walk(cast(Recording, Planted(recording)), new_session(recording, profile)):
            for told in projector.project([event]):
                hosts.tell(told)
        if released := projector.released():
            hosts.tell(released)
    texts = {name: sent.everything() for name, sent in hosts.sent.items()}
    return {name: [secret for secret, word in SECRETS.items() if word in text] for name, text in texts.items()}


def casts() -> list[Path]:
    """Return one recording of each agent: all of them take minutes."""
    return list({path.parent: path for path in sorted(RECORDINGS.rglob("*.cast*"))}.values())


@pytest.mark.parametrize("path", casts(), ids=lambda path: f"{path.parent.name}/{path.name.partition('.cast')[0]}")
def test_no_secret_reaches_a_host(path: Path, tmp_path: Path) -> None:
    leaks = found(path, tmp_path, titles=False)
    assert not any(leaks.values()), leaks


SYNTHETIC = '{"version": 2, "width": 80, "height": 24}\n' + "".join(
    f'[{at}, "o", "\\u001b]7501;state={state}\\u001b\\\\"]\n'
    for at, state in enumerate(("idle", "working", "blocked:kind=permission", "working", "idle"))
)


@pytest.mark.parametrize("titles", [False, True])
def test_a_title_reaches_only_the_host_that_shows_titles_and_only_where_that_is_wanted(
    tmp_path: Path, titles: bool
) -> None:
    path = tmp_path / "x.cast"
    path.write_text(SYNTHETIC)
    leaks = found(path, tmp_path, titles=titles)
    expected: dict[str, list[str]] = {name: [] for name in leaks}
    if titles:
        expected["herdr"] = ["title"]
    assert leaks == expected


def main() -> int:
    """Look at every recording of a folder."""
    failed = 0
    for path in sorted(Path(sys.argv[1]).rglob("*.cast*")):
        with tempfile.TemporaryDirectory() as folder:
            leaks = {host: secrets for host, secrets in found(path, Path(folder), titles=False).items() if secrets}
        failed += bool(leaks)
        print(path.parent.name, path.name, leaks or "clean", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
