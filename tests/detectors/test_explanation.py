"""What an explanation tells: each condition of the rule, its age and excerpt, in a profile's words, safe to print."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle_detectors import Session, Size, State, make_screen, printable, wording
from lifecycle_detectors.explanation import EXCERPT
from lifecycle_detectors.profiles import builtin_names, load_builtin, parse_profile

TEXT = """
schema = 1
name = "test"
[[rule]]
id = "dialog"
state = "blocked"
all = [{ region = "bottom", line = 'Allow\\?' }]
any = [{ title = 'never' }, { bell = true }]
none = [{ region = "bottom", text = 'quoted' }]
[[rule]]
id = "title"
state = "working"
all = [{ title = '^w' }]
[[rule]]
id = "rest"
state = "idle"
all = [{ region = "screen" }]
"""


def shown(*rows: str) -> Session:
    session = Session(parse_profile(TEXT, "test.toml", load_builtin), Size(10, 400), 0.0, screen=make_screen)
    session.receive_output(b"\x1b]0;w\x07\x07" + "\r\n".join(rows).encode(), 0.0)
    while (due := session.next_deadline) is not None and due <= 5.0:
        session.tick(due)
    return session


def test_the_rule_its_evidence_and_what_it_beat() -> None:
    why = shown("text", "Allow?").explain(5.0)
    assert why.rule is not None
    assert (why.rule.id, why.state, why.standing) == ("dialog", State.BLOCKED, "dialog")
    assert [rule.id for rule in why.beaten] == ["title", "rest"]
    found = why.findings(why.rule)
    assert [(f.role, f.holds, f.excerpt) for f in found] == [
        ("all", True, "Allow?"),
        ("any", False, "w"),
        ("any", True, ""),
        ("none", False, "text Allow?"),
    ]
    assert found[0].age == pytest.approx(4.95)
    assert found[1].age == found[2].age == 5.0


def test_before_any_rule_spoke() -> None:
    session = Session(parse_profile(TEXT, "test.toml", load_builtin), Size(10, 40), 0.0, screen=make_screen)
    why = session.explain(1.0)
    assert (why.rule, why.state, why.standing, why.beaten) == (None, State.UNKNOWN, "", ())
    for rule in why.profile.rules:
        assert not any(finding.holds for finding in why.findings(rule) if finding.role == "all")
        assert all(finding.age is None for finding in why.findings(rule))


def test_an_excerpt_is_cut_around_the_match() -> None:
    why = shown("x" * 300 + " Allow? " + "y" * 300).explain(5.0)
    assert why.rule is not None
    excerpt = why.findings(why.rule)[0].excerpt
    assert len(excerpt) <= EXCERPT
    assert "Allow?" in excerpt


@given(st.text(max_size=400))
def test_printable_text_can_do_no_harm(text: str) -> None:
    safe = printable(text)
    assert len(safe) <= EXCERPT
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cs") for character in safe)
    assert "\n" not in safe
    assert printable(safe) == safe


@pytest.mark.parametrize("name", builtin_names())
def test_every_condition_has_words_that_a_profile_would_understand(name: str) -> None:
    for rule in load_builtin(name).rules:
        for condition in rule.conditions:
            words = wording(condition)
            assert words.startswith(condition.subject)
            assert "None" not in words


@pytest.mark.parametrize("name", builtin_names())
def test_every_rule_can_be_explained_at_any_time(name: str) -> None:
    session = Session(load_builtin(name), Size(10, 40), 0.0, screen=make_screen)
    for at, data in enumerate((b"", b"\x1b]0;t\x07\x1b]9;4;1;5\x07\x07> x", b"\x1b[?2004h\x1b[?1049h\x1b]133;A\x07")):
        session.receive_output(data, float(at))
        session.receive_input(b"abc\r", float(at))
        session.tick(at + 0.5)
        why = session.explain(at + 0.5)
        for rule in why.profile.rules:
            assert len(why.findings(rule)) == len(rule.conditions)
