"""The manager and its workers: order, latest value, budgets, isolation, and the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from itertools import pairwise

import pytest

from lifecycle_wrap import worker
from lifecycle_wrap.hosts.base import Call, ErrorClass, Host, HostError, HostGone
from lifecycle_wrap.manager import CLOSE_SECONDS, Lookup, Manager
from lifecycle_wrap.projection import Kind, LifecycleEvent
from tests.support.events import MemoryHost, event, release, started
from tests.support.waiting import wait_until


class Gate:
    """Holds a host's publish until it is opened."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self, event: LifecycleEvent, call: Call) -> None:
        self.entered.set()
        assert self.opened.wait(20)


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets hosts be sent to as often as they can be; `test_rates` holds the limit."""
    monkeypatch.setattr(worker, "BURST_SECONDS", 0.0)


def test_states_then_release_in_order() -> None:
    host = MemoryHost()
    manager = started([host])
    for state in ("working", "blocked", "working", "idle"):
        manager.publish(event(state))
        wait_until(lambda state=state: host.states[-1:] == [state], state)
    manager.publish(release())
    manager.close()
    assert host.states == ["working", "blocked", "working", "idle", "release"]
    sequences = [told.sequence for told in host.events]
    assert sequences == sorted(set(sequences))


def test_of_99_queued_states_only_the_last_is_sent_and_never_two_at_once() -> None:
    gate = Gate()
    host = MemoryHost(on_publish=gate)
    manager = started([host])
    manager.publish(event("working"))
    assert gate.entered.wait(20)
    for number in range(99):
        manager.publish(event("blocked" if number % 2 else "idle"))
    gate.opened.set()
    wait_until(lambda: len(host.events) == 2, "the last state")
    manager.publish(release())
    manager.close()
    assert host.states == ["working", "idle", "release"]
    assert host.most_at_once == 1


def test_a_send_that_ignores_its_limit_is_never_overtaken() -> None:
    gate = Gate()
    host = MemoryHost(on_publish=gate)
    host.state_seconds = 0.01
    manager = started([host])
    manager.publish(event("working"))
    assert gate.entered.wait(20)
    manager.publish(event("idle"))
    manager.publish(release())
    started_at = time.monotonic()
    manager.close()
    assert time.monotonic() - started_at < CLOSE_SECONDS + 0.5
    assert host.states == ["working"]
    gate.opened.set()
    assert host.released.wait(20)
    assert host.states == ["working", "release"]
    assert host.most_at_once == 1


def test_a_slow_host_coalesces_a_failing_one_goes_on_a_good_one_gets_all() -> None:
    gate = Gate()
    slow = MemoryHost("slow", on_publish=gate)

    def fail(event: LifecycleEvent, call: Call) -> None:
        raise HostError

    failing, good = MemoryHost("failing", on_publish=fail), MemoryHost("good")
    manager = started([slow, failing, good])
    states = ["working", "blocked", "working", "idle"]
    for number, state in enumerate(states, 1):
        manager.publish(event(state))
        wait_until(lambda number=number: len(good.events) == len(failing.events) == number, state)
    gate.opened.set()
    wait_until(lambda: len(slow.events) == 2, "the slow one's last state")
    manager.publish(last := release())
    manager.close()
    assert slow.states == ["working", "idle", "release"]
    assert good.states == failing.states == [*states, "release"]
    assert {host.events[-1].sequence for host in (slow, failing, good)} == {last.sequence}


def test_equal_states_are_told_once() -> None:
    host = MemoryHost()
    manager = started([host])
    for state in ("working", "working", "working"):
        manager.publish(event(state))
    wait_until(lambda: host.events, "the state")
    manager.publish(event("working", title="new"))
    wait_until(lambda: len(host.events) == 2, "the title")
    manager.publish(release())
    manager.close()
    assert host.states == ["working", "working", "release"]


def test_a_host_is_not_told_what_it_does_not_show() -> None:
    class StateOnly(MemoryHost):
        def projection(self, event: LifecycleEvent) -> str:
            return event.state

    host, witness = StateOnly(), MemoryHost()
    manager = started([host, witness])
    for title in ("", "a", "b"):
        manager.publish(event("working", title=title))
        wait_until(lambda title=title: witness.events and witness.events[-1].title == title, title)
    manager.publish(release())
    manager.close()
    assert host.states == ["working", "release"]


def test_a_release_comes_once_and_nothing_after_it() -> None:
    host = MemoryHost()
    manager = started([host])
    manager.publish(event("working"))
    wait_until(lambda: host.events, "the state")
    manager.publish(release())
    manager.publish(release())
    manager.publish(event("idle"))
    manager.close()
    manager.publish(event("blocked"))
    manager.close()
    assert host.states == ["working", "release"]


def test_nothing_claimed_nothing_released() -> None:
    host = MemoryHost()
    manager = started([host])
    manager.publish(event("", kind=Kind.ATTENTION))
    manager.publish(release())
    manager.close()
    assert host.states == []


def test_the_release_pre_empts_what_waits_and_cancels_what_runs() -> None:
    cancelled = threading.Event()

    def hang(event: LifecycleEvent, call: Call) -> None:
        with call.aborting(cancelled.set):
            assert cancelled.wait(20)
        raise HostError(ErrorClass.CANCELLED)

    host = MemoryHost(on_publish=hang)
    manager = started([host])
    manager.publish(event("working"))
    wait_until(lambda: host.events, "the state")
    manager.publish(event("idle"))
    manager.publish(release())
    manager.close()
    assert host.states == ["working", "release"]


def test_a_send_that_is_nearly_done_is_let_finish() -> None:
    cancelled = threading.Event()
    gate = Gate()

    def slow(event: LifecycleEvent, call: Call) -> None:
        with call.aborting(cancelled.set):
            gate(event, call)

    host = MemoryHost(on_publish=slow)
    manager = started([host])
    manager.publish(event("working"))
    assert gate.entered.wait(20)
    manager.publish(release())
    threading.Timer(0.05, gate.opened.set).start()
    manager.close()
    assert host.states == ["working", "release"]
    assert not cancelled.is_set()


def test_close_has_one_budget_for_all() -> None:
    def wait(event: LifecycleEvent, call: Call) -> None:
        with call.aborting(lambda: None):
            threading.Event().wait(0.4)

    hosts = [MemoryHost(str(number), on_release=wait) for number in range(5)]
    manager = started(hosts)
    manager.publish(event("working"))
    wait_until(lambda: all(host.events for host in hosts), "all claims")
    manager.publish(release())
    started_at = time.monotonic()
    manager.close()
    assert time.monotonic() - started_at < 1.2
    assert all(host.released.is_set() for host in hosts)


def test_a_host_that_hangs_in_the_release_does_not_hold_the_exit() -> None:
    hang = Gate()
    host = MemoryHost(on_release=hang)
    manager = started([host])
    manager.publish(event("working"))
    wait_until(lambda: host.events, "the state")
    manager.publish(release())
    started_at = time.monotonic()
    manager.close()
    assert CLOSE_SECONDS <= time.monotonic() - started_at < CLOSE_SECONDS + 0.5
    hang.opened.set()


def test_a_failed_release_is_tried_once_more() -> None:
    failures = [HostError(), None]

    def fail_first(event: LifecycleEvent, call: Call) -> None:
        if failure := failures.pop(0):
            raise failure

    host = MemoryHost(on_release=fail_first)
    manager = started([host])
    manager.publish(event("working"))
    wait_until(lambda: host.events, "the state")
    manager.publish(release())
    manager.close()
    assert host.states == ["working", "release", "release"]
    assert host.released.is_set()


def test_a_host_that_is_gone_gets_nothing_more() -> None:
    def gone(event: LifecycleEvent, call: Call) -> None:
        raise HostGone

    log: list[str] = []
    host, witness = MemoryHost("left", on_publish=gone), MemoryHost()
    manager = started([host, witness], log, debug=True)
    for state in ("working", "idle"):
        manager.publish(event(state))
        wait_until(lambda state=state: witness.states[-1:] == [state], state)
    manager.publish(release())
    manager.close()
    assert host.states == ["working"]
    assert log == ['lifecycle-wrap: host "left" send failed: the pane is gone']


@pytest.mark.parametrize("where", ["publish", "release", "prepare", "projection"])
def test_a_crash_ends_that_host_with_one_line(where: str) -> None:
    class Broken(MemoryHost):
        pass

    def broken(self: Host, *_: object) -> None:
        raise ZeroDivisionError("secret")

    setattr(Broken, where, broken)
    log: list[str] = []
    host, witness = Broken("bro\nken"), MemoryHost()
    manager = started([host, witness], log)
    for state in ("working", "idle"):
        manager.publish(event(state))
        wait_until(lambda state=state: witness.states[-1:] == [state], state)
    manager.publish(release())
    manager.close()
    assert witness.states == ["working", "idle", "release"]
    assert log == ['lifecycle-wrap: host "bro\\nken" adapter crashed; it gets nothing more in this session']


def test_a_search_that_crashes_costs_only_the_hosts() -> None:
    log: list[str] = []
    searched = threading.Event()

    def discover(lookup: Lookup) -> Iterable[Host]:
        searched.set()
        raise ZeroDivisionError

    manager = Manager(log=log.append)
    manager.start(discover)
    assert searched.wait(20)
    manager.publish(event("working"))
    wait_until(lambda: log, "the line in the log")
    manager.close()


def test_diagnostics_name_class_and_host_once_and_only_in_debug() -> None:
    errors = [ErrorClass.TIMED_OUT, ErrorClass.TIMED_OUT, ErrorClass.DENIED]

    def run(debug: bool) -> list[str]:
        pending = list(errors)

        def fail(event: LifecycleEvent, call: Call) -> None:
            raise HostError(pending.pop(0))

        log: list[str] = []
        host = MemoryHost('a "quoted" name', on_publish=fail)
        manager = started([host], log, debug=debug)
        for number in range(len(errors)):
            manager.publish(event("working", title=f"secret {number}", cwd="/secret"))
            wait_until(lambda number=number: len(host.events) == number + 1, "the attempt")
        manager.close()
        return log

    assert run(debug=True) == [
        'lifecycle-wrap: host "a \\"quoted\\" name" send timed out',
        'lifecycle-wrap: host "a \\"quoted\\" name" send failed: permission denied',
    ]
    assert run(debug=False) == []


def test_other_kinds_reach_only_who_asks_in_order_with_the_states() -> None:
    gate = Gate()
    asking = MemoryHost("asking", on_publish=gate)
    asking.kinds = frozenset(Kind)
    plain = MemoryHost("plain")
    manager = started([asking, plain])
    manager.publish(event("", kind=Kind.SESSION_STARTED))
    assert gate.entered.wait(20)
    for kind, state in (
        (Kind.TURN_STARTED, "idle"),
        (Kind.STATE, "working"),
        (Kind.APPROVAL_REQUESTED, "blocked"),
        (Kind.STATE, "blocked"),
        (Kind.ATTENTION, "blocked"),
    ):
        manager.publish(event(state, kind=kind))
    gate.opened.set()
    wait_until(lambda: len(asking.events) == 5, "all but the state that was overtaken")
    manager.publish(release())
    manager.close()
    assert [told.kind.value for told in asking.events] == [
        "session_started",
        "turn_started",
        "approval_requested",
        "state",
        "attention",
        "release",
    ]
    assert {told.kind for told in plain.events} <= {Kind.STATE, Kind.RELEASE}


@pytest.mark.usefixtures("unlimited")
def test_waiting_events_are_bounded() -> None:
    gate = Gate()
    host = MemoryHost(on_publish=gate)
    host.kinds = frozenset(Kind)
    manager = started([host])
    manager.publish(event("working"))
    assert gate.entered.wait(20)
    for _ in range(1000):
        manager.publish(event("working", kind=Kind.ATTENTION))
    gate.opened.set()
    wait_until(lambda: len(host.events) == 65, "the last 64")
    manager.close()
    assert len(host.events) == 65


def test_what_is_published_during_the_search_is_not_lost() -> None:
    go_on = threading.Event()
    host = MemoryHost()
    host.kinds = frozenset(Kind)

    def discover(lookup: Lookup) -> Iterable[Host]:
        assert go_on.wait(20)
        return [host]

    manager = Manager(log=print)
    manager.start(discover)
    manager.publish(event("", kind=Kind.SESSION_STARTED))
    manager.publish(event("working"))
    manager.publish(event("idle"))
    go_on.set()
    wait_until(lambda: len(host.events) == 2, "start and last state")
    manager.publish(release())
    manager.close()
    assert host.states == ["session_started", "idle", "release"]


def test_the_end_cancels_a_search() -> None:
    asked = threading.Event()
    ended = threading.Event()

    def discover(lookup: Lookup) -> Iterable[Host]:
        call = lookup.call()
        aborted = threading.Event()
        try:
            with call.aborting(aborted.set):
                asked.set()
                assert aborted.wait(20)
            lookup.call().remaining  # noqa: B018
        finally:
            ended.set()
        return []

    log: list[str] = []
    manager = Manager(log=log.append)
    manager.start(discover)
    assert asked.wait(20)
    manager.close()
    assert ended.wait(20)


def test_an_interval_is_kept_between_sends_and_the_latest_state_wins() -> None:
    starts: list[float] = []

    class Limited(MemoryHost):
        interval = 0.1

    def note(event: LifecycleEvent, call: Call) -> None:
        starts.append(time.monotonic())

    host = Limited(on_publish=note, on_release=note)
    manager = started([host])
    manager.publish(event("working"))
    wait_until(lambda: starts, "the first send")
    for number in range(50):
        manager.publish(event("idle" if number % 2 else "blocked"))
    wait_until(lambda: len(starts) == 2, "the second send")
    manager.publish(release())
    manager.close()
    assert host.states == ["working", "idle", "release"]
    assert all(later - earlier >= 0.1 for earlier, later in pairwise(starts))


def test_a_state_is_repeated_where_the_host_needs_it() -> None:
    class Forgetful(MemoryHost):
        repeats = (0.02, 0.03)

    host = Forgetful()
    manager = started([host])
    manager.publish(working := event("working"))
    wait_until(lambda: len(host.events) >= 4, "repetitions")
    manager.publish(event("idle"))
    wait_until(lambda: host.states.count("idle") >= 2, "repetitions of the new state")
    manager.publish(release())
    manager.close()
    assert set(host.events[:4]) == {working}
    assert host.states[-1] == "release"
    assert host.states.index("idle") == host.states.count("working")


def test_repetitions_of_a_send_that_fails_come_ever_later() -> None:
    class Forgetful(MemoryHost):
        repeats = (0.02, 60.0)

    starts: list[float] = []

    def fail(event: LifecycleEvent, call: Call) -> None:
        starts.append(time.monotonic())
        if len(starts) < 5:
            raise HostError

    host = Forgetful(on_publish=fail)
    manager = started([host])
    manager.publish(event("working"))
    wait_until(lambda: len(starts) == 5, "the send that counts")
    manager.close()
    waits = [later - earlier for earlier, later in pairwise(starts)]
    assert all(wait >= 0.02 * 2**number for number, wait in enumerate(waits))
    assert len(starts) == 5


def test_notices_reach_the_host_that_shows_them() -> None:
    seen: list[dict[str, str]] = []
    manager: Manager

    class Shows(MemoryHost):
        wants_notices = True

    def ignored(event: LifecycleEvent, call: Call) -> None:
        troubled.notice = "ignored"

    def show(event: LifecycleEvent, call: Call) -> None:
        seen.append(manager.notices())

    troubled = MemoryHost("troubled", on_publish=ignored)
    shows = Shows("shows", on_publish=show)
    manager = started([shows, troubled])
    manager.publish(event("working"))
    wait_until(lambda: seen and seen[-1] == {"troubled": "ignored"}, "the notice")
    manager.close()
    assert 1 <= len(seen) <= 2


@pytest.mark.usefixtures("unlimited")
def test_publishing_from_many_threads_is_safe() -> None:
    host = MemoryHost()
    manager = started([host])
    threads = [
        threading.Thread(target=lambda: [manager.publish(event(state)) for state in ("working", "idle") * 10])
        for _ in range(50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    manager.publish(event("blocked"))
    wait_until(lambda: host.states[-1:] == ["blocked"], "the last state")
    manager.publish(release())
    manager.close()
    assert host.most_at_once == 1


@pytest.mark.usefixtures("unlimited")
def test_ten_thousand_states_cost_no_memory_and_the_last_one_arrives() -> None:
    import tracemalloc

    gate = Gate()
    hosts = [MemoryHost("slow", on_publish=gate), MemoryHost("fast")]
    hosts[1].events = _Bounded()
    manager = started(hosts)
    manager.publish(event("working"))
    assert gate.entered.wait(20)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(10_000):
            manager.publish(event("working", title=str(number)))
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    gate.opened.set()
    for host in hosts:
        wait_until(lambda host=host: host.events[-1].title == "9999", host.name)
    manager.close()
    assert grown < 64 * 1024


class _Bounded(list[LifecycleEvent]):
    """Remembers the last event only."""

    def append(self, item: LifecycleEvent) -> None:
        self[:] = [item]


def test_no_host_no_thread() -> None:
    before = threading.active_count()
    manager = Manager(log=print)
    manager.publish(event("working"))
    manager.publish(release())
    manager.close()
    assert threading.active_count() == before
