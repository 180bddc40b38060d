"""The I/O shell of lifecycle-wrap: PTY, outer terminal, hosts, configuration, commands."""

__version__ = "0.1.0"
