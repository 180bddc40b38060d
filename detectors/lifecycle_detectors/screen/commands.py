"""Which control sequence does what to the pyte model.

Owns the table from tokens to `Model`'s methods: the forms that count, their parameters and defaults. A sequence of
another form (a private marker, an intermediate, a colon, too many parameters) is another sequence, and ignored.
Sources: ECMA-48, xterm's ctlseqs, and libghostty-vt where they leave a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from lifecycle_detectors.controls import DEL, SI, SO, OscNumber
from lifecycle_detectors.parser import Control, Csi, Escape, Osc, Print, Token

from .model import Model
from .rendition import rendition
from .writer import CHARSETS

_Values = tuple[int, ...]
_Action = Callable[[Model, _Values], None]


def apply(model: Model, tokens: Iterable[Token]) -> None:
    """Do what the tokens say, in order."""
    for token in tokens:
        if isinstance(token, Print):
            model.draw(token.text)
        elif isinstance(token, Csi):
            _apply_csi(model, token)
        elif isinstance(token, Control):
            control = _CONTROLS.get(token.code)
            if control:
                control(model)
        elif isinstance(token, Escape):
            _apply_escape(model, token)
        elif isinstance(token, Osc):
            _apply_osc(model, token.data)


def _apply_csi(model: Model, token: Csi) -> None:
    if token.final == "m":
        if not token.private and not token.intermediates:
            params = token.params
            model.use_attributes(params, lambda: rendition(model.pen.attributes, params))
        return
    found = _command(token)
    if found:
        action, values = found
        action(model, values)


@lru_cache(maxsize=4096)
def _command(token: Csi) -> tuple[_Action, _Values] | None:
    command = _COMMANDS.get(token.private + token.intermediates + token.final)
    if command is None:
        return None
    limit, action = command
    params = token.params
    if len(params) == limit + 1 and params[-1] == (None,):  # nothing stands behind the last separator
        params = params[:-1]
    if len(params) > limit or any(len(parameter) > 1 for parameter in params):
        return None
    return action, tuple(parameter[0] or 0 for parameter in params)


def _apply_escape(model: Model, token: Escape) -> None:
    intermediates, final = token
    if intermediates in _SLOTS and intermediates:
        if final in CHARSETS:
            model.charsets.sets[_SLOTS.index(intermediates)] = CHARSETS[final]
        return
    action = _ESCAPES.get(intermediates + final)
    if action:
        action(model)


def _apply_osc(model: Model, data: bytes) -> None:
    mark = data.split(b";", 2)
    if mark[0] == _PROMPT_MARK and mark[1:2] in ([b"A"], [b"L"], [b"N"]):
        model.fresh_line()


_PROMPT_MARK = b"%d" % OscNumber.PROMPT_MARK
_SLOTS = "()*+"


def _first(values: _Values, default: int = 1) -> int:
    """The first parameter, or the default where there is none."""
    return values[0] if values else default


def _position(model: Model, values: _Values) -> None:
    model.cursor_position(*values)


def _scroll_down(model: Model, values: _Values) -> None:
    model.scroll_down(_first(values))


def _margins(model: Model, values: _Values) -> None:
    model.set_margins(*values)


def _column(model: Model, column: int) -> None:
    model.cursor_position(model.cursor.y + 1, column)


def _row(model: Model, row: int) -> None:
    model.cursor_position(row, min(model.cursor.x, model.columns - 1) + 1)


def _tabs(model: Model, count: int) -> None:
    for _ in range(min(count, model.columns)):
        model.tab()


def _tabs_back(model: Model, count: int) -> None:
    for _ in range(min(count, model.columns)):
        model.tab_back()


def _next_line(model: Model, count: int) -> None:
    model.cursor_down(count)
    model.carriage_return()


def _previous_line(model: Model, count: int) -> None:
    model.cursor_up(count)
    model.carriage_return()


def _tab_control(model: Model, how: int) -> None:
    if how == 0:
        model.set_tab_stop()
    elif how == 2:
        model.clear_tab_stop(0)
    elif how == 5:
        model.clear_tab_stop(3)


def _reset_tabs(model: Model, how: int) -> None:
    if how == 5:
        model.tabstops = set(range(8, model.columns, 8))


_COMMANDS: dict[str, tuple[int, _Action]] = {
    "@": (1, lambda model, values: model.insert_characters(_first(values))),
    "A": (1, lambda model, values: model.cursor_up(_first(values))),
    "B": (1, lambda model, values: model.cursor_down(_first(values))),
    "C": (1, lambda model, values: model.cursor_forward(_first(values))),
    "D": (1, lambda model, values: model.cursor_back(_first(values))),
    "E": (1, lambda model, values: _next_line(model, _first(values))),
    "F": (1, lambda model, values: _previous_line(model, _first(values))),
    "G": (1, lambda model, values: _column(model, _first(values))),
    "H": (2, _position),
    "I": (1, lambda model, values: _tabs(model, _first(values))),
    "J": (1, lambda model, values: model.erase_in_display(_first(values, 0))),
    "?J": (1, lambda model, values: model.erase_in_display(_first(values, 0))),
    "K": (1, lambda model, values: model.erase_in_line(_first(values, 0))),
    "?K": (1, lambda model, values: model.erase_in_line(_first(values, 0))),
    "L": (1, lambda model, values: model.insert_lines(_first(values))),
    "M": (1, lambda model, values: model.delete_lines(_first(values))),
    "P": (1, lambda model, values: model.delete_characters(_first(values))),
    "S": (1, lambda model, values: model.scroll_up(_first(values))),
    "T": (1, _scroll_down),
    "W": (1, lambda model, values: _tab_control(model, _first(values, 0))),
    "?W": (1, lambda model, values: _reset_tabs(model, _first(values, 0))),
    "X": (1, lambda model, values: model.erase_characters(_first(values))),
    "Z": (1, lambda model, values: _tabs_back(model, _first(values))),
    "`": (1, lambda model, values: _column(model, _first(values))),
    "a": (1, lambda model, values: _column(model, min(model.cursor.x, model.columns - 1) + 1 + _first(values))),
    "b": (1, lambda model, values: model.repeat(max(_first(values), 1))),
    "d": (1, lambda model, values: _row(model, _first(values))),
    "e": (1, lambda model, values: _row(model, model.cursor.y + 1 + _first(values))),
    "f": (2, _position),
    "g": (1, lambda model, values: model.clear_tab_stop(_first(values, -1))),
    "h": (32, lambda model, values: model.switch_modes(values, True, private=False)),
    "?h": (32, lambda model, values: model.switch_modes(values, True, private=True)),
    "l": (32, lambda model, values: model.switch_modes(values, False, private=False)),
    "?l": (32, lambda model, values: model.switch_modes(values, False, private=True)),
    "r": (2, _margins),
    "?r": (32, lambda model, values: model.return_modes(values)),
    "s": (0, lambda model, values: model.save_cursor()),
    "?s": (32, lambda model, values: model.keep_modes(values)),
    "j": (1, lambda model, values: model.cursor_back(_first(values))),
    "k": (1, lambda model, values: model.cursor_up(_first(values))),
    "u": (32, lambda model, values: model.restore_cursor()),
}
"""By private marker, intermediates and final: how many parameters at most, and what to do with them."""


def _next_row(model: Model) -> None:
    model.index()
    model.carriage_return()


def _lock(slot: int) -> Callable[[Model], None]:
    def lock(model: Model) -> None:
        model.charsets.active = slot

    return lock


def _shift_once(slot: int) -> Callable[[Model], None]:
    def shift(model: Model) -> None:
        model.charsets.once = slot

    return shift


_ESCAPES: dict[str, Callable[[Model], None]] = {
    "7": Model.save_cursor,
    "8": Model.restore_cursor,
    "#8": Model.alignment_display,
    "D": Model.index,
    "E": _next_row,
    "H": Model.set_tab_stop,
    "M": Model.reverse_index,
    "N": _shift_once(2),
    "O": _shift_once(3),
    "c": Model.reset,
    "n": _lock(2),
    "o": _lock(3),
}

_CONTROLS: dict[int, Callable[[Model], None]] = {
    0x08: Model.backspace,
    0x09: Model.tab,
    0x0A: Model.linefeed,
    0x0B: Model.linefeed,
    0x0C: Model.linefeed,
    0x0D: Model.carriage_return,
    SO: _lock(1),
    SI: _lock(0),
    DEL: lambda model: model.draw("\x7f"),
}
