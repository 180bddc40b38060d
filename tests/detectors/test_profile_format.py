"""A profile's text: what it means, and one line with file, place and remedy for everything that is wrong with it."""

from __future__ import annotations

import contextlib
import string
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle_detectors import Message, Profile, ProfileError, Source, State
from lifecycle_detectors.layout import REGIONS
from lifecycle_detectors.profiles import builtin_names, load_builtin, parse_profile
from lifecycle_detectors.profiles.conditions import MAX_CONDITIONS
from lifecycle_detectors.profiles.format import DEFAULT_SETTLE, MAX_RULES
from lifecycle_detectors.profiles.patterns import MAX_PATTERN
from lifecycle_detectors.rules import HOLD_PRIORITY, SUBJECTS

HEAD = 'schema = 1\nname = "mine"\n'


def parse(text: str, head: str = HEAD) -> Profile:
    return parse_profile(head + text, "mine.toml", load_builtin)


def rule_text(conditions: str = 'all = [{ title = "x" }]', state: str = "working", more: str = "") -> str:
    return f'[[rule]]\nid = "r"\nstate = "{state}"\n{more}\n{conditions}\n'


def refusal(text: str, head: str = HEAD) -> str:
    with pytest.raises(ProfileError) as caught:
        parse(text, head)
    told = str(caught.value)
    assert "\n" not in told
    assert told.startswith("mine.toml: ")
    problem, semicolon, remedy = told.rpartition("; ")
    assert problem, told
    assert semicolon, f"no remedy: {told}"
    assert remedy, told
    return told


# --- what it means


def test_a_small_profile() -> None:
    profile = parse("")
    assert (profile.name, profile.title, profile.settle) == ("mine", "mine", DEFAULT_SETTLE)
    assert not profile.is_verified
    assert {rule.id for rule in profile.rules} == {rule.id for rule in load_builtin("base").rules}


def test_every_key() -> None:
    profile = parse(
        """
        title = "Mine"
        extends = ""
        verified = ["1.0"]
        follow = true
        [match]
        commands = ["mine"]
        packages = ["@me/mine"]
        modules = ["mine"]
        [session]
        options = ["--resume"]
        resume = ["mine", "--resume", "{session_id}"]
        [timing]
        settle = 2
        [composer]
        prompt = '^> '
        not_prompt = '^> 1'
        frame = "box"
        [[rule]]
        id = "one"
        state = "blocked"
        kind = "permission"
        priority = 7
        all = [{ region = "dialog", line = 'Allow\\?', still = 0.5 }]
        none = [{ composer = true }]
        [[rule]]
        id = "two"
        state = "idle"
        settle = 0.3
        failed = true
        any = [{ title = 'x', moving = 1 }, { progress = ["none"], fresh = 2 }]
        [[rule]]
        id = "three"
        state = "working"
        message = "Retrying"
        all = [{ region = "bottom", text = 'again' }]
        [[rule]]
        id = "four"
        state = "hold"
        all = [{ region = "bottom", row = '^  transcript' }]
        """
    )
    four, two, three, one = sorted(profile.rules, key=lambda rule: rule.id != "four" and -ord(rule.id[1]))
    rules = {rule.id: rule for rule in profile.rules}
    assert next(iter(rules)) == "four"
    assert rules["one"].priority == 7
    assert rules["one"].message is Message.APPROVAL
    assert rules["one"].all_of[0].still == 0.5
    assert rules["two"].settle == 0.3
    assert rules["two"].failed
    assert rules["three"].message is Message.RETRYING
    assert rules["three"].source is Source.SCREEN
    assert rules["four"].state is None
    assert rules["four"].priority == HOLD_PRIORITY
    assert profile.settle == 2.0
    assert profile.follow
    assert profile.composers[0].frame == "box"
    assert profile.is_verified
    assert {four.id, two.id, three.id, one.id} == set(rules)


def test_rules_are_ordered_by_priority_holds_first() -> None:
    profile = parse(
        rule_text(more="priority = 1").replace('"r"', '"low"')
        + rule_text(more="priority = 9").replace('"r"', '"high"')
        + rule_text(more="priority = 9").replace('"r"', '"later"')
        + rule_text(state="hold", more="priority = 2").replace('"r"', '"hold"')
    )
    own = [rule.id for rule in profile.rules if rule.id in ("low", "high", "later", "hold")]
    assert own == ["hold", "high", "later", "low"]


def test_a_rule_of_the_same_id_takes_the_parents_place() -> None:
    profile = parse('[[rule]]\nid = "status-idle"\nstate = "idle"\nall = [{ bell = true }]')
    [found] = [rule for rule in profile.rules if rule.id == "status-idle"]
    assert found.source is Source.BELL


def test_settings_are_inherited() -> None:
    profile = parse('extends = "kimi"')
    parent = load_builtin("kimi")
    assert profile.composers == parent.composers
    assert not profile.commands, "what it is for is its own affair"


@pytest.mark.parametrize("name", builtin_names())
def test_every_built_in_profile_can_be_read(name: str) -> None:
    profile = load_builtin(name)
    assert profile.name == name
    assert profile.rules


@pytest.mark.parametrize(
    "condition",
    [
        "title = 'x', fresh = 1, still = 1, soon = 1, moving = 1, after_submit = true",
        'progress = ["none"], fresh = 1, after_submit = true',
        "status = [\"working\"], text = 'x', fresh = 1, after_submit = true",
        "notification = 'x', fresh = 1, after_submit = true",
        "bell = true, fresh = 1, after_submit = true",
        'prompt = ["A"], fresh = 1, after_submit = true',
        "region = \"bottom\", line = 'x', still = 1, moving = 1, spinning = 1, fresh = 1",
        "composer = true",
        "alternate = false",
        "cursor = false",
        "startup = true",
        "unblocked = true, fresh = 1",
        "quiet = 1",
        "flow = 1",
        "line_editor = false, still = 1, fresh = 1, after_submit = true, within = 1",
        'standing = ["r"]',
        'entered = ["r"], fresh = 1',
        'input = ["submit"], fresh = 1',
    ],
)
def test_every_subject(condition: str) -> None:
    profile = parse(rule_text(f"all = [{{ {condition} }}]"))
    [rule] = [rule for rule in profile.rules if rule.id == "r"]
    assert rule.all_of[0].subject == condition.split(" ")[0]
    assert rule.state is State.WORKING


def test_every_subject_is_tried() -> None:
    tried = {c.split(" ")[0] for c in test_every_subject.pytestmark[0].args[1]}  # type: ignore[attr-defined]
    assert tried == set(SUBJECTS)


# --- what is refused: (text, what the line names)

REFUSED = {
    "no schema": ("", "schema", 'name = "mine"\n'),
    "another schema": ("", "schema", 'schema = 2\nname = "mine"\n'),
    "no name": ("", "name", "schema = 1\n"),
    "a name with capitals": ("", "name", 'schema = 1\nname = "Mine"\n'),
    "an unknown parent": ('extends = "nothing"', "extends", HEAD),
    "an unknown key": ('colour = "red"', "colour", HEAD),
    "a key that is nearly right": ('titel = "x"', "did you mean 'title'", HEAD),
    "a wrong type": ("title = 3", "title", HEAD),
    "a boolean for a number": ("[timing]\nsettle = true", "settle", HEAD),
    "a time that is too long": ("[timing]\nsettle = 99999", "settle", HEAD),
    "an unknown key in a table": ("[timing]\nsettel = 1", "timing.settel", HEAD),
    "a table that is none": ("match = 3", "match", HEAD),
    "an empty command": ('[match]\ncommands = [""]', "match.commands", HEAD),
    "a composer without a prompt": ('[composer]\nframe = "box"', "composer.prompt", HEAD),
    "an unknown frame": ("[composer]\nprompt = 'x'\nframe = \"round\"", "composer.frame", HEAD),
    "a composer's pattern": ("[composer]\nprompt = '('", "composer.prompt", HEAD),
    "a rule without id": ('[[rule]]\nstate = "idle"', "rule", HEAD),
    "a rule's id": ('[[rule]]\nid = "A b"\nstate = "idle"', "id", HEAD),
    "two rules of one id": (rule_text() + rule_text(), "rule 'r'", HEAD),
    "an unknown state": (rule_text(state="busy"), "rule 'r'.state", HEAD),
    "no conditions": (rule_text("none = [{ bell = true }]"), "rule 'r'.all", HEAD),
    "a kind when not blocked": (rule_text(more='kind = "auth"'), "rule 'r'.kind", HEAD),
    "an unknown kind": (rule_text(state="blocked", more='kind = "money"'), "rule 'r'.kind", HEAD),
    "a message of its own": (rule_text(more='message = "Coding"'), "rule 'r'.message", HEAD),
    "a message when idle": (rule_text(state="idle", more='message = "Working"'), "rule 'r'.message", HEAD),
    "an unknown key of a rule": (rule_text(more="prio = 3"), "did you mean 'priority'", HEAD),
    "a condition that is no table": (rule_text("all = [3]"), "rule 'r'.all[0]", HEAD),
    "a condition without subject": (rule_text("all = [{ fresh = 1 }]"), "rule 'r'.all[0]", HEAD),
    "a condition with two": (rule_text("all = [{ title = 'x', bell = true }]"), "rule 'r'.all[0]", HEAD),
    "an unknown region": (rule_text("all = [{ region = \"botom\" }]"), "did you mean 'bottom'", HEAD),
    "line and text": (rule_text("all = [{ region = \"top\", line = 'x', text = 'y' }]"), "rule 'r'.all[0]", HEAD),
    "a bad pattern": (rule_text("any = [{ bell = true }, { title = '[' }]"), "rule 'r'.any[1].title", HEAD),
    "an empty pattern": (rule_text("all = [{ title = '' }]"), "rule 'r'.all[0].title", HEAD),
    "an unknown progress": (rule_text('all = [{ progress = ["busy"] }]'), "rule 'r'.all[0].progress", HEAD),
    "no progress": (rule_text("all = [{ progress = [] }]"), "rule 'r'.all[0].progress", HEAD),
    "an unknown status": (rule_text('all = [{ status = ["busy"] }]'), "rule 'r'.all[0].status", HEAD),
    "an unknown prompt mark": (rule_text('all = [{ prompt = ["E"] }]'), "rule 'r'.all[0].prompt", HEAD),
    "an unknown input": (rule_text('all = [{ input = ["mouse"] }]'), "rule 'r'.all[0].input", HEAD),
    "no rule named": (rule_text("all = [{ standing = [] }]"), "rule 'r'.all[0].standing", HEAD),
    "a bell that is none": (rule_text("all = [{ bell = false }]"), "rule 'r'.all[0].bell", HEAD),
    "a negative time": (rule_text("all = [{ title = 'x', fresh = -1 }]"), "rule 'r'.all[0].fresh", HEAD),
    "a narrowing of another subject": (rule_text("all = [{ bell = true, still = 1 }]"), "rule 'r'.all[0].still", HEAD),
    "too many conditions": (rule_text(f"all = [{'{ bell = true }, ' * (MAX_CONDITIONS + 1)}]"), "rule 'r'.all", HEAD),
    "too many rules": ("".join(rule_text().replace('"r"', f'"r{n}"') for n in range(MAX_RULES + 1)), "rule", HEAD),
    "a long pattern": (rule_text(f"all = [{{ title = '{'x' * (MAX_PATTERN + 1)}' }}]"), "rule 'r'.all[0].title", HEAD),
    "not TOML": ("[[rule", "TOML", HEAD),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_told_in_one_line(case: str) -> None:
    text, place, head = REFUSED[case]
    assert place in refusal(text, head)


# --- anything

NAMES = st.sampled_from(["schema", "name", "title", "extends", "match", "composer", "rule", "timing", "session", "x"])
VALUES = st.recursive(
    st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False), st.text(string.printable, max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


def toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'''" + value.replace("'", "").replace("\r", "").replace("\x0b", "").replace("\x0c", "") + "'''"
    if isinstance(value, list):
        return f"[{', '.join(toml(item) for item in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    return repr(value).replace("inf", "1.0")


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_no_table_does_more_than_be_refused(data: dict[str, object]) -> None:
    text = "".join(f"{key} = {toml(value)}\n" for key, value in data.items())
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    with contextlib.suppress(ProfileError):
        parse_profile(text, "mine.toml", load_builtin)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    with pytest.raises(ProfileError):
        parse_profile(text, "mine.toml", load_builtin)


def test_the_grammar_names_every_region_once() -> None:
    assert "asked" in REGIONS
    from lifecycle_detectors import layout

    for name in REGIONS:
        assert layout.__doc__ is not None
        assert layout.__doc__.count(f"| `{name}` |") == 1
