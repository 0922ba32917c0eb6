"""The preload library in this process: whether it is here, how it comes here, its switch and its control page.

It is loaded as `dtype-san attach` loads it, by a thread whose name tells where its mailbox is (sanitizer/protocol/mailbox.h), but by
this process itself: that needs no right to trace, and no thread is stopped.
"""
import atexit
import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import uuid

from ._programs import program

_LIBRARY = "libdtype_san.so"
_CONTROL = "/memfd:dtype-san-control"
_PR_SET_NAME = 15
# What a process says of its own that joins itself: nothing at its end, and it ends as it would.
_OPTIONS = "journal_in_memory=1:print_summary=0:exitcode=0:halt_on_error=0:torch=origins"
_FOLDER = "dtype-guard-"  # and the process id: of journals of forked children
_DAY = 24 * 60 * 60


class WatchError(RuntimeError):
    """The library cannot watch this process, or what it recorded cannot be read; the message says why."""


class _Mailbox(ctypes.Structure):
    """Mailbox of sanitizer/protocol/mailbox.h."""

    _fields_ = [("magic", ctypes.c_char * 16), ("numbers", ctypes.c_uint32 * 5), ("libc", ctypes.c_void_p * 7),
                ("helper_fork_handlers", ctypes.c_void_p * 3), ("handles_forks", ctypes.c_uint32), ("is_loading", ctypes.c_uint32),
                ("process", ctypes.c_uint32), ("helper_clock", ctypes.c_int32), ("fork_handlers", ctypes.c_void_p * 3), ("handle", ctypes.c_void_p),
                ("thread_name", ctypes.c_char * 16), ("error", ctypes.c_char * 512), ("copies", ctypes.c_uint32 * 3),
                ("said", ctypes.c_char * 400), ("journal", ctypes.c_char * 1024), ("problem", ctypes.c_char * 256),
                ("library", ctypes.c_char * 4096), ("options", ctypes.c_char * 4096)]

    @property
    def answered(self):
        return self.numbers[3] != 0


class _Control(ctypes.Structure):
    """ControlPage of sanitizer/protocol/control_page.h."""

    _fields_ = [("magic", ctypes.c_char * 16), ("version", ctypes.c_uint32), ("on", ctypes.c_uint32), ("library_version", ctypes.c_char * 32),
                ("owner", ctypes.c_uint32), ("journal", ctypes.c_char * 1024), ("problem", ctypes.c_char * 256)]


_joined_with = None  # the options of the process that joined itself
_folder = None  # of the journals of its forked children, made by the first that has one; its own is in memory
_mailbox = None  # never freed: the library was told where it is


def _mapped(name):
    """The first address of each file of that name in this process, and its path."""
    for line in pathlib.Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines():
        path = line.split(maxsplit=5)[5:]
        if path and (path[0] == name or path[0].replace(" (deleted)", "").endswith(f"/{name}") or path[0].startswith(f"{name} ")):
            yield int(line.partition("-")[0], 16), path[0]


def _control():
    """A copy of this process's control page; None where there is none."""
    for address, _ in _mapped(_CONTROL):
        page = _Control.from_buffer_copy(ctypes.string_at(address, ctypes.sizeof(_Control)))
        if page.magic == b"dtype-san-ctl-1" and page.owner in (0, os.getpid()):
            return page
    return None


def _present():
    """The library, if it is in this process."""
    for _, path in _mapped(_LIBRARY):
        library = ctypes.CDLL(path, os.RTLD_NOW | os.RTLD_NOLOAD)
        library.dtype_san_switch.restype = ctypes.c_int
        return library
    return None


def _file():
    """The library that belongs to this package's dtype-san."""
    prefix = pathlib.Path(program("dtype-san")).resolve().parents[1]
    for path in sorted(prefix.glob(f"lib*/{_LIBRARY}")) + sorted(prefix.glob(f"lib/*/{_LIBRARY}")):
        return str(path)
    raise WatchError(f"{_LIBRARY} is not in {prefix}/lib; install dtype-guard again")


def _remove_folder(folder, owner):
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left_folders(place):
    """Of processes that were killed after a forked child had recorded something: a day old, and no such process is there any more."""
    for folder in pathlib.Path(place).glob(f"{_FOLDER}[0-9]*-*"):
        try:
            status = folder.lstat()
            is_left = status.st_uid == os.geteuid() and time.time() - status.st_mtime > _DAY
            if is_left and not pathlib.Path("/proc", folder.name.split("-")[2]).exists():
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass


def unwatched():
    """The environment of this package's own commands, which are no children of the user's program that should have been watched."""
    options = os.environ.get("DTYPE_SAN_OPTIONS", "")
    return {**os.environ, "DTYPE_SAN_OPTIONS": f"{options}{':' if options else ''}enabled=0"}


def _check(options):
    """dtype-san reads them, in front of a command that does nothing: the library itself goes on with what it understands."""
    if any(each.partition("=")[0] == "journal" for each in options.split(":")):
        raise WatchError(f"options: '{options}': the journal of a block is in memory, and gone with the process; "
                         "'dtype-san run' and 'dtype-san attach' keep one where you say")
    done = subprocess.run([program("dtype-san"), "run", "--options", options, "--quiet", "--", "true"], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise WatchError(done.stderr.strip() or f"dtype-san run ended with {done.returncode}")


def _load(options):
    global _folder, _mailbox
    path = _file()
    if options:
        _check(options)
    try:
        place = tempfile.gettempdir()
    except OSError:  # none that can be written: forked children say so where they have something to record
        place = "/tmp"
    _remove_left_folders(place)
    _folder = str(pathlib.Path(place, f"{_FOLDER}{os.getpid()}-{uuid.uuid4().hex}"))
    atexit.register(_remove_folder, _folder, os.getpid())
    _mailbox = _Mailbox(magic=b"dtype-san-join4", process=os.getpid(),
                        options=f"journal={_folder}:{_OPTIONS}{f':{options}' if options else ''}".encode())
    problem = []

    def join():
        ctypes.CDLL(None).prctl(_PR_SET_NAME, f"dts{ctypes.addressof(_mailbox):012x}".encode(), 0, 0, 0)
        try:
            ctypes.CDLL(path, os.RTLD_NOW)
        except OSError as error:
            problem.append(f"{path} cannot be loaded: {error}")

    thread = threading.Thread(target=join)
    thread.start()
    thread.join()
    if not problem and not _mailbox.answered:
        problem.append(f"{path} was loaded, and does not answer: it is of another version than this package")
    if not problem and _mailbox.problem:
        problem.append(f"the library does not watch this process: {_mailbox.problem.decode(errors='replace')}")
    if problem:
        raise WatchError(problem[0])


def join(options):
    """Loads the library where it is not here yet. True when it was here, and on."""
    global _joined_with
    if _present() is None:
        _load(options)
        _joined_with = options
        return False
    if options and options != _joined_with:
        raise WatchError(f"the options '{options}' come too late: the library keeps those with which it came into the process")
    page = _control()
    return page is not None and page.on != 0


def switch(on):
    """Also has the library write to the journal what it counted."""
    if _present().dtype_san_switch(1 if on else 0) != 0:
        raise WatchError("watching is forbidden in this process: DTYPE_SAN_OPTIONS has enabled=0, or another copy of the library is here")


def journals():
    """The journals that findings of this process go to."""
    page = _control()
    own = pathlib.Path(os.fsdecode(page.journal)) if page is not None and page.journal else None
    if page is not None and page.problem:
        is_closed = own is not None and own.parts[:2] == ("/", "proc") and not own.exists()
        raise WatchError("this process has closed the descriptor of its journal, and what was recorded is gone: watch it from a new start"
                         if is_closed else page.problem.decode(errors="replace"))
    found = {own} if own is not None and own.is_file() else set()
    return sorted(found.union(pathlib.Path(_folder).glob("*.dtype-san") if _folder is not None else ()))
