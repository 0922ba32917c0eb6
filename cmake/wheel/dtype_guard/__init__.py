"""dtype-guard: finds implicit float32 promotion on its way into attention kernels.

The package carries two programs, dtype-lint and dtype-san, and finds them again; `watch` lets dtype-san watch a part of this process.
"""
from ._library import WatchError
from ._programs import ProgramMissing, program
from ._version import __version__
from ._watch import Finding, Watch, watch

__all__ = ["Finding", "ProgramMissing", "Watch", "WatchError", "__version__", "program", "watch"]
