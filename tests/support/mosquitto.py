"""A real mosquitto on a loopback port of its own, plain or with TLS and a password; and its own subscriber."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import pytest

from lifecycle_wrap.broker_config import Address
from tests.support.waiting import DEADLINE, wait_until

PASSWORD = "not-in-any-argv"

needs_mosquitto = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("mosquitto", "mosquitto_sub")), reason="there is no mosquitto here"
)


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Mosquitto:
    """The broker; a context manager that starts and stops it.

    Args:
        folder: where its files are.
        tls: with a certificate for 127.0.0.1 by an authority of the test's, and the password `PASSWORD` for `fleet`.
        persistent: what is retained is there again after a restart.
        more: a line of its configuration.
        quiet: it logs nothing, which costs it no time; `subscriber` needs the log.

    Attributes:
        address: where it listens.
        authority: the file of the authority's certificate.
    """

    def __init__(
        self, folder: Path, *, tls: bool = False, persistent: bool = False, quiet: bool = False, more: str = ""
    ) -> None:
        self.folder = folder / "mosquitto"
        self.folder.mkdir()
        self.address = Address("127.0.0.1", free_port(), tls)
        self.authority = self.folder / "ca.pem"
        self._process: subprocess.Popen[bytes] | None = None
        lines = [f"log_type {'none' if quiet else 'all'}", f"listener {self.address.port} 127.0.0.1"]
        if os.geteuid() == 0:
            lines.append("user root")
        if tls:
            self._make_certificates()
            password_file = self.folder / "passwords"
            subprocess.run(["mosquitto_passwd", "-b", "-c", password_file, "fleet", PASSWORD], check=True)
            lines += [f"certfile {self.folder}/server.pem", f"keyfile {self.folder}/server.key"]
            lines += [f"password_file {password_file}", "allow_anonymous false"]
        else:
            lines += ["allow_anonymous true"]
        if persistent:
            lines += ["persistence true", f"persistence_location {self.folder}/"]
        lines.append(more)
        self._config = self.folder / "mosquitto.conf"
        self._config.write_text("".join(f"{line}\n" for line in lines))

    def __enter__(self) -> Mosquitto:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it listens."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(["mosquitto", "-c", self._config], stdout=log, stderr=log)
        wait_until(self._listens, self._log)

    def stop(self) -> None:
        """Stop it, as its service would be; again and again, since it forgets a signal from before its loop began."""
        process, self._process = self._process, None
        if process is not None:
            wait_until(lambda: _ended(process), self._log)

    def put(self, topic: str, payload: bytes, left: int) -> None:
        """Have somebody else write to it, so long ago that only `left` seconds are left until it is forgotten."""
        command = ["mosquitto_pub", "-V", "5", "-h", self.address.host, "-p", str(self.address.port), "-q", "1", "-r"]
        command += ["-D", "publish", "message-expiry-interval", str(left), "-t", topic, "-s"]
        subprocess.run(command, input=payload, check=True, timeout=DEADLINE)

    @contextmanager
    def subscriber(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run `mosquitto_sub` with all that it needs to be let in, and wait until it is."""
        command = ["mosquitto_sub", "-V", "5", "-h", self.address.host, "-p", str(self.address.port)]
        if self.address.tls:
            command += ["--cafile", str(self.authority), "-u", "fleet", "-P", PASSWORD]
        before = self._log().count("Sending SUBACK")
        process = subprocess.Popen([*command, *arguments], bufsize=0, stdout=subprocess.PIPE)
        try:
            wait_until(lambda: self._log().count("Sending SUBACK") > before, self._log)
            yield process
        finally:
            process.kill()
            process.wait(DEADLINE)

    def retained(self) -> dict[str, bytes]:
        """Return the retained payloads by topic, as a client that is not ours reads them."""
        with self.subscriber("-t", "#", "--retained-only", "-W", "1", "-F", "%t %p") as process:
            output, _ = process.communicate(timeout=DEADLINE)
        return {topic.decode(): payload for topic, _, payload in (line.partition(b" ") for line in output.splitlines())}

    def _log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.address.port), timeout=1):
            return True
        return False

    def _make_certificates(self) -> None:
        commands = (
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority"
            " -keyout ca.key -out ca.pem",
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=127.0.0.1"
            " -keyout server.key -out server.csr",
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
        )
        (self.folder / "names").write_text("subjectAltName = IP:127.0.0.1\n")
        for command in commands:
            subprocess.run(["openssl", *command.split()], cwd=self.folder, check=True, capture_output=True)


class Follower:
    """What stands on the topics below a prefix, as a client that is not ours sees it. A context manager.

    Attributes:
        values: the last payload of each topic; an empty one takes the topic away.
    """

    def __init__(self, server: Mosquitto, prefix: str) -> None:
        self.values: dict[str, bytes] = {}
        self._running = server.subscriber("-t", f"{prefix}/+/+/state", "-F", "%t %p")

    def __enter__(self) -> Follower:
        process = self._running.__enter__()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.__exit__(kind, error, trace)

    def messages(self) -> list[dict[str, Any]]:
        """Return the payloads."""
        return [json.loads(payload) for payload in list(self.values.values())]

    def states(self) -> list[str]:
        """Return the states, "gone" for the last wills."""
        return [one["state"] or ("gone" if one.get("gone") else "?") for one in self.messages()]

    def _read(self, output: IO[bytes]) -> None:
        with suppress(ValueError):
            for line in output:
                topic, _, payload = line.rstrip(b"\n").partition(b" ")
                if payload:
                    self.values[topic.decode()] = payload
                else:
                    self.values.pop(topic.decode(), None)


def configure(
    environ: Mapping[str, str], address: Address, *, host: str = "", keepalive: int = 30, more: str = ""
) -> None:
    """Write a configuration in which sessions tell the broker and the register, and touch nothing else."""
    file = Path(environ["HOME"]) / ".config" / "lifecycle-wrap" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        'program_status = "pass"\n[lifecycle]\nadapters = ["register", "mqtt"]\nosc = "off"\n'
        f'[lifecycle.broker]\nurl = "{address}"\nhost = "{host}"\nkeepalive = {keepalive}\n{more}'
    )


def _ended(process: subprocess.Popen[bytes]) -> bool:
    process.terminate()
    return process.poll() is not None
