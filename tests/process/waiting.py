"""A line of a pipe within some time, and what the processes of a group wait for where it does not come."""
import os
import pathlib
import select
import signal
import time


def line_of(pipe, seconds):
    """Without its end; None where the time is over or the pipe has ended. The pipe is not buffered."""
    read, end = b"", time.monotonic() + seconds
    while not read.endswith(b"\n"):
        if not select.select([pipe], [], [], max(0, end - time.monotonic()))[0]:
            return None
        if not (byte := os.read(pipe.fileno(), 1)):
            return None
        read += byte
    return read[:-1].decode()


def text_of(path):
    try:
        return path.read_text(encoding="utf-8", errors="replace").replace("\0", " ").strip()
    except OSError as error:  # it has ended, or the kernel does not say
        return f"({error.strerror})"


def group_of(leader):
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        fields = text_of(folder / "stat").rpartition(")")[2].split()
        if len(fields) > 3 and int(fields[2]) == leader:
            yield folder


def what_waits(leader):
    """Of each thread in the group: state, where in the kernel, and the system call with its arguments. Then the Python
    programs among them that have faulthandler on SIGUSR1 write their stacks to stderr; others end by that."""
    lines = []
    folders = list(group_of(leader))
    for folder in folders:
        lines.append(f"{folder.name} {text_of(folder / 'cmdline')[:160]}")
        for task in sorted(folder.glob("task/[0-9]*")):
            state = (text_of(task / "stat").rpartition(")")[2].split() or ["?"])[0]
            stack = " < ".join(text_of(task / "stack").splitlines()[:6])
            lines.append(f"    {task.name} {state} {text_of(task / 'comm')}: {text_of(task / 'wchan')}; {text_of(task / 'syscall')}; {stack}")
    for folder in folders:
        for number in (signal.SIGUSR1, signal.SIGCONT):  # a stopped one writes when it runs on
            try:
                os.kill(int(folder.name), number)
            except ProcessLookupError:
                pass
        time.sleep(0.5)  # one after the other: they write to one place, a word at a time
    return "\n".join(lines)
