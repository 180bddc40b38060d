"""The one table of what is fuzzed: a name, its laws, its seeds, and whether it reads a terminal stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from . import corpus, laws, shell_laws


class Target(NamedTuple):
    """One reader.

    Attributes:
        check: raises where a law is broken.
        seeds: inputs to start from.
        words: what mutation puts in.
        weight: its share of a run of all targets.
    """

    check: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    words: Callable[[], list[bytes]]
    weight: int = 1


TARGETS: dict[str, Target] = {
    "parser": Target(laws.parser, corpus.streams, corpus.sequences, 4),
    "screen": Target(laws.screen, corpus.streams, corpus.sequences, 2),
    "session": Target(laws.session, corpus.stories, corpus.story_words, 4),
    "keyboard": Target(laws.keyboard, corpus.keys, corpus.sequences, 2),
    "osc_filter": Target(laws.osc_filter, corpus.streams, corpus.sequences, 2),
    "profile_loader": Target(laws.profile_loader, corpus.profiles, corpus.profile_words),
    "config_loader": Target(shell_laws.config_loader, corpus.configurations, corpus.configuration_words),
    "recording": Target(shell_laws.recording, corpus.recordings, corpus.recording_words),
    "json_event": Target(shell_laws.json_event, corpus.noise, corpus.no_words),
    "register": Target(shell_laws.register, corpus.records, corpus.record_words),
    "journal": Target(shell_laws.journal, corpus.journals, corpus.record_words),
    "topic": Target(shell_laws.topic, corpus.topics, corpus.no_words),
}
