"""Profiles: what is known about each agent, as data.

Owns the TOML format (the same for the built-in ones beside this file and for users' own), its loader with its errors,
and the choice of a profile by a command line. Knows no agent: the TOML files do.
"""

from .catalog import GENERIC, Catalog, builtin_names, load_builtin
from .command_line import basename, is_script, program_name
from .format import Profile, parse_profile
from .table import ProfileError

__all__ = [
    "GENERIC",
    "Catalog",
    "Profile",
    "ProfileError",
    "basename",
    "builtin_names",
    "is_script",
    "load_builtin",
    "parse_profile",
    "program_name",
]
