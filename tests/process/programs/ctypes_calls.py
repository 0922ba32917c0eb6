"""ctypes_calls.py LIBRARY: four calls of flash_ref_rotary, as rotary_call.h makes them."""
import ctypes
import sys


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


def tensor(data, sizes, code, bits):
    shape = (ctypes.c_int64 * len(sizes))(*sizes)
    return Tensor(ctypes.addressof(data), 1, 0, len(sizes), code, bits, 1, shape, None, 0)


def apply_rotary(library, wrong):
    data, table = (ctypes.c_uint32 * 2)(), (ctypes.c_uint32 * 2)()
    x = tensor(data, (1, 1, 1, 2), 4, 16)
    t = tensor(table, (1, 1), 2 if wrong else 4, 32 if wrong else 16)
    return library.flash_ref_rotary(ctypes.byref(x), ctypes.byref(t), ctypes.byref(t),  # call: ctypes
                                    ctypes.byref(x), None)


class Layer:
    def forward(self, library, wrong):
        return apply_rotary(library, wrong)  # call: forward


def main():
    library = ctypes.CDLL(sys.argv[1])
    for i in range(4):
        print("status", Layer().forward(library, i % 2))


if __name__ == "__main__":
    main()
