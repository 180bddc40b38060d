"""The table of sessions that `ps` prints and `watch` keeps up to date.

Owns which columns there are, how wide they are, and which go first where there is little room.
"""

from __future__ import annotations

from lifecycle_wrap.terminal.cells import REVERSE, STATE_STYLES, fit, harmless, styled, width

from . import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lifecycle_wrap.hosts.records import Session

GAP = "  "

_PHONE_COLUMNS = 48
"""Below this columns are as narrow as can be, with one cell between them."""

_PHONE_LIMIT = 9
_SHORT_TITLES = {"SINCE": "AGE", "DIRECTORY": "WHERE"}

_PATH = "DIRECTORY"
_PATH_CELLS = 12
"""What is left to the directory at least before other columns go; 40 columns keep the state, agent, age and this."""

_LEAST_PATH_CELLS = 4
"""With fewer it is left out: they tell nothing."""

# In their order on the screen. The limit is the most cells a column may take; the rank is the order of leaving.
_COLUMNS = (
    ("STATE", 8, 0),
    ("AGENT", 14, 0),
    ("SINCE", 5, 0),
    ("ABOUT", 26, 2),
    ("HOST", 20, 4),
    ("TERMINAL", 16, 3),
    ("PID", 7, 1),
)

_OPTIONAL = ("ABOUT", "HOST")
"""Columns that are left out where there is nothing in them."""


class Table:
    """Rows of text, all cut to one width.

    Attributes:
        heading: the row of titles.
        rows: one row per session, in the order given.
    """

    def __init__(
        self,
        listed: Sequence[Session],
        now: float,
        *,
        home: str,
        columns: int,
        color: bool,
        selected: int | None = None,
    ) -> None:
        """Lay the sessions out.

        Args:
            listed: the sessions.
            now: seconds since the epoch.
            home: the directory that is shown as `~`.
            columns: the width to keep to; 0 for none.
            color: whether states are coloured.
            selected: the index of the session that is marked, by reverse video, which is no colour; or None.
        """
        values: dict[str, Callable[[Session], str]] = {
            "STATE": sessions.state,
            "AGENT": lambda session: session.agent,
            "SINCE": lambda session: sessions.age(session, now),
            "ABOUT": sessions.about,
            "HOST": lambda session: session.host,
            "TERMINAL": sessions.terminal,
            "PID": lambda session: str(session.pid),
        }
        cells = {title: [harmless(values[title](session)) for session in listed] for title, _, _ in _COLUMNS}
        phone = 0 < columns < _PHONE_COLUMNS
        gap = GAP[:1] if phone else GAP
        widths = _widths(cells, columns, gap, phone=phone)
        path_cells = columns - _total(widths, gap)
        path_cells = path_cells if path_cells >= _LEAST_PATH_CELLS else 0
        named = any(cells["HOST"]) and "HOST" not in widths
        paths = [_place(session, path_cells) if named else _short(session.cwd, home) for session in listed]
        if not columns:
            path_cells = max(map(width, [_PATH, *paths]))

        def row(texts: dict[str, str], path: str, style: str, *, marked: bool = False) -> str:
            parts = [fit(texts[title], cells) for title, cells in widths.items()]
            parts[0] = styled(parts[0], style, color=color and not marked)
            line = gap.join([*parts, fit(path, path_cells, keep_end=not named)])
            return styled(line, REVERSE, color=True) if marked else line.rstrip()

        short = _SHORT_TITLES if phone else {}
        self.heading = row({title: short.get(title, title) for title in widths}, short.get(_PATH, _PATH), "")
        self.rows = [
            row(
                {title: cells[title][index] for title in widths},
                paths[index],
                STATE_STYLES.get(sessions.state(session), ""),
                marked=index == selected,
            )
            for index, session in enumerate(listed)
        ]


def _widths(cells: dict[str, list[str]], columns: int, gap: str, *, phone: bool) -> dict[str, int]:
    """Return which columns there are, and how wide."""
    short = _SHORT_TITLES if phone else {}
    limits = {title: min(limit, _PHONE_LIMIT) if phone else limit for title, limit, _ in _COLUMNS}
    widths = {
        title: min(limit, max(map(width, [short.get(title, title), *cells[title]])))
        for title, limit in limits.items()
        if title not in _OPTIONAL or any(cells[title])
    }
    for title, _, rank in sorted(_COLUMNS, key=lambda column: column[2]):
        if rank and columns and _total(widths, gap) + _PATH_CELLS > columns:
            widths.pop(title, None)
    return widths


def _total(widths: dict[str, int], gap: str) -> int:
    return sum(cells + len(gap) for cells in widths.values())


def _place(session: Session, cells: int) -> str:
    """Say machine and directory where there is no room for two columns: `web1:project`, no more than half the host."""
    directory = harmless(sessions.base(session.cwd))
    host = harmless(session.host.partition(".")[0])
    room = max(cells - width(directory) - 1, cells // 2)
    return f"{fit(host, min(room, width(host)))}:{directory}"


def _short(path: str, home: str) -> str:
    inside = home not in ("", "/") and (path == home or path.startswith(f"{home}/"))
    return harmless(f"~{path[len(home) :]}" if inside else path)
