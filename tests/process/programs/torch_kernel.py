"""Starts a Jupyter kernel, runs cells in it one after the other, prints what each prints, and shuts it down as
its clients do.

    torch_kernel.py CELL...      "wait" for a cell: says the kernel's process, and goes on with the next line of stdin
"""
import json
import os
import queue
import sys

from jupyter_client.manager import KernelManager

LONG = 500  # seconds: a kernel that says nothing for so long hangs


def said_by(client, cell):
    """What the cell prints; an exception by its name."""
    message = client.execute(cell, store_history=True)
    said = []
    while True:
        answer = client.get_iopub_msg(timeout=LONG)
        if answer["parent_header"].get("msg_id") != message:
            continue
        kind, content = answer["msg_type"], answer["content"]
        if kind == "stream" and content["name"] == "stdout":
            said.append(content["text"])
        elif kind == "error":
            said.append(content["ename"] + "\n")
        elif kind == "status" and content["execution_state"] == "idle":
            return "".join(said)


def main():
    manager = KernelManager(shutdown_wait_time=float(os.environ.get("KERNEL_ENDS_WITHIN", "60")))
    manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager.start_kernel(stdout=sys.stderr)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=LONG)
        for cell in sys.argv[1:]:
            if cell == "wait":
                print(json.dumps({"kernel": manager.provisioner.pid}), flush=True)
                sys.stdin.readline()
            else:
                print(said_by(client, cell), end="", flush=True)
    except queue.Empty:
        print("the kernel is silent")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now="KERNEL_IS_KILLED" in os.environ)


if __name__ == "__main__":
    main()
