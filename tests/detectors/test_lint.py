"""`profiles check`: rules that never fire, never decide, or take prose for the real thing; the built-ins are clean."""

from __future__ import annotations

import pytest

from lifecycle_detectors.profiles import builtin_names, load_builtin, parse_profile
from lifecycle_detectors.profiles.lint import doubts

HEAD = 'schema = 1\nname = "mine"\nextends = ""\n'
COMPOSER = "[composer]\nprompt = '^>'\n"


def told(*rules: str, head: str = HEAD) -> list[str]:
    texts = [f'[[rule]]\nid = "r{n}"\n{rule}\n' for n, rule in enumerate(rules)]
    profile = parse_profile(head + "".join(texts), "mine.toml", load_builtin)
    return [f"{doubt.rule}: {doubt.problem}" for doubt in doubts(profile)]


def rule(all_of: str, state: str = "working", none_of: str = "", any_of: str = "", more: str = "") -> str:
    return f'state = "{state}"\nall = [{all_of}]\nany = [{any_of}]\nnone = [{none_of}]\n{more}'


@pytest.mark.parametrize("name", builtin_names())
def test_the_built_in_profiles_are_clean(name: str) -> None:
    assert doubts(load_builtin(name)) == []


NEVER = {
    "a flag both ways": rule("{ alternate = true }, { alternate = false }"),
    "two values of one signal": rule('{ progress = ["none"] }, { progress = ["normal"] }'),
    "wanted and unwanted": rule("{ title = 'x', fresh = 1 }", none_of="{ title = 'x' }"),
    "a composer that the profile does not describe": rule("{ composer = true }"),
    "a region that needs one": rule("{ region = \"status_block\", line = '^x' }"),
    "all ways need one": rule("{ bell = true }", any_of='{ composer = true }, { region = "composer" }'),
    "a rule that is not there": rule('{ standing = ["gone"] }'),
    "no dialog to be gone": rule("{ unblocked = true }"),
}


@pytest.mark.parametrize("case", NEVER)
def test_what_can_never_fire(case: str) -> None:
    [doubt] = told(NEVER[case])
    assert doubt.startswith("r0: can never fire: ")


@pytest.mark.parametrize("region", ["dialog", "panel"])
def test_a_dialog_with_the_composer_there_can_never_fire(region: str) -> None:
    [doubt] = told(rule(f"{{ composer = true }}, {{ region = \"{region}\", line = '^x' }}"), head=HEAD + COMPOSER)
    assert "can never fire" in doubt


def test_what_may_fire_is_not_told() -> None:
    fine = (
        rule("{ alternate = true }, { title = 'x' }", none_of="{ alternate = false }"),
        rule('{ progress = ["none", "normal"] }, { title = \'y\' }'),
        rule('{ standing = ["r0", "r1"] }'),
        rule("{ title = 'z' }", none_of="{ title = 'z', fresh = 1 }"),
    )
    assert told(*fine, head=HEAD + COMPOSER) == []


SHADOWED = {
    "the same": ("{ title = 'x' }", "{ title = 'x' }"),
    "with more": ("{ title = 'x' }", "{ title = 'x' }, { alternate = true }"),
    "fresher": ("{ title = 'x', fresh = 5 }", "{ title = 'x', fresh = 2 }"),
    "at rest for longer": ("{ region = \"asked\", still = 1 }", "{ region = \"asked\", still = 2 }"),
    "fewer values": ('{ prompt = ["A", "B"] }', '{ prompt = ["A"] }'),
    "any text": ("{ region = \"top\" }", "{ region = \"top\", line = '^x' }"),
}  # fmt: skip


@pytest.mark.parametrize("case", SHADOWED)
def test_what_is_always_beaten_never_decides(case: str) -> None:
    first, second = SHADOWED[case]
    [doubt] = told(rule(first, "idle"), rule(second, "idle", more="priority = 1"))
    assert doubt.startswith("r1: never decides: whenever it holds, 'r0' holds")
    if first != second:
        assert told(rule(first, "idle"), rule(second, "idle", more="priority = 999")) == []


def test_what_is_beaten_only_sometimes_decides() -> None:
    for first, second in [(b, a) for a, b in SHADOWED.values() if a != b]:
        assert told(rule(first, "idle"), rule(second, "idle", more="priority = 1")) == []
    guarded = rule("{ title = 'x' }", "idle", none_of="{ alternate = true }")
    assert told(guarded, rule("{ title = 'x' }", "idle", more="priority = 1")) == []
    assert told(guarded, rule("{ title = 'x' }", "idle", none_of="{ alternate = true }", more="priority = 1"))


def test_a_name_that_no_rule_has_is_told() -> None:
    [doubt] = told(rule("{ title = 'x' }"), rule('{ standing = ["r0", "gone"] }'))
    assert doubt == "r1: names no rule of the profile: gone"


PROSE = {
    "a hint anywhere": "{ region = \"bottom\", text = 'esc to interrupt' }",
    "a question anywhere": "{ region = \"screen\", line = 'Do you want to proceed' }",
    "a word": "{ region = \"status_block\", line = 'Working' }",
    "an option": "{ region = \"dialog\", line = '1. Yes' }",
    "a hint on a screen of its own": "{ alternate = true }, { region = \"bottom\", text = 'Enter to select' }",
}  # fmt: skip


@pytest.mark.parametrize("case", PROSE)
@pytest.mark.parametrize("state", ["working", "blocked"])
def test_what_prose_would_fire(case: str, state: str) -> None:
    [doubt] = told(rule(PROSE[case], state), head=HEAD + COMPOSER)
    assert doubt.startswith("r0: would take prose for it: ")


SAFE = {
    "anchored": "{ region = \"bottom\", line = '^⠋ Working \\\\(\\\\d+s • esc to interrupt\\\\)$' }",
    "it has to move": "{ region = \"bottom\", line = 'esc to interrupt', moving = 2 }",
    "the composer has to be away": "{ composer = false }, { region = \"bottom\", text = 'Do you want to proceed' }",
    "at the cursor": "{ region = \"asked\", line = '\\\\[y/N\\\\]' }",
    "a signal too": "{ title = 'x' }, { region = \"bottom\", text = 'esc to interrupt' }",
}  # fmt: skip


@pytest.mark.parametrize("case", SAFE)
def test_what_prose_would_not_fire(case: str) -> None:
    assert told(rule(SAFE[case], "blocked"), head=HEAD + COMPOSER) == []
