"""many_callers.py LIBRARY CASE: wrong calls of flash_ref_rotary from several places of a Python program.
   lines        four functions on four lines, whose names and lines differ by one, and two lines of one function
   helper N     sixty functions call one helper, in N rounds
   writers      two functions write a tensor in float32; the one of the second is given to attention"""
import ctypes
import sys

from ctypes_calls import apply_rotary, tensor

library = ctypes.CDLL(sys.argv[1])


def rotate():
    return apply_rotary(library, True)


def f1(): rotate()
def f2(): rotate()
def f3(): rotate()
def f4(): rotate()


def both():
    rotate()
    rotate()


def lines():
    for function in (f1, f2, f3, f4):
        function()
    both()


def helper(rounds):
    names = [f"caller_{number}" for number in range(60)]
    scope = {"rotate": rotate}
    exec("\n".join(f"def {name}():\n    rotate()\n" for name in names), scope)
    for _ in range(rounds):
        for name in names:
            scope[name]()


SIZES, TABLE = (1, 8, 2, 8), (8, 4)


def filled():
    return (ctypes.c_uint16 * 256)(*(0x3c00 + number * 37 % 113 for number in range(256)))


def write(memory, source=filled(), table=filled()):
    x, out, t = (tensor(data, sizes, 2, 32) for data, sizes in ((source, SIZES), (memory, SIZES), (table, TABLE)))
    return library.flash_ref_rotary(*map(ctypes.byref, (x, t, t, out)), None)


def write_first(memory):
    write(memory)


def write_second(memory):
    write(memory)


def writers():
    memories, other = (filled(), filled()), filled()
    write_first(memories[0])
    write_second(memories[1])
    q, k = tensor(memories[1], SIZES, 2, 32), tensor(other, SIZES, 2, 16)
    library.flash_ref_attention_fwd(*map(ctypes.byref, (q, k, k, k)), None, None)


if __name__ == "__main__":
    if sys.argv[2] == "helper":
        helper(int(sys.argv[3]))
    else:
        globals()[sys.argv[2]]()
