"""ranks.py LIBRARY ODD mpi|torch: one rank of a job. Its ranks meet, each calls flash_ref_rotary, rank ODD with float32 tables
where the others have bfloat16, and meet again."""
import ctypes
import os
import sys

from ctypes_calls import tensor


class Mpi:
    """Open MPI's C interface, of its runtime library alone."""

    def __init__(self):
        self.mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
        self.mpi.MPI_Init(None, None)
        self.world = ctypes.byref(ctypes.c_char.in_dll(self.mpi, "ompi_mpi_comm_world"))
        number = ctypes.c_int()
        self.mpi.MPI_Comm_rank(self.world, ctypes.byref(number))
        self.rank = number.value

    def meet(self):
        self.mpi.MPI_Barrier(self.world)

    def end(self):
        self.mpi.MPI_Finalize()


class Torch:
    def __init__(self):
        import torch.distributed
        self.distributed = torch.distributed
        self.distributed.init_process_group("gloo")
        self.rank = self.distributed.get_rank()

    def meet(self):
        self.distributed.barrier()

    def end(self):
        self.distributed.destroy_process_group()


def rotate(library, wide):
    data, table = (ctypes.c_uint32 * 2)(), (ctypes.c_uint32 * 2)()
    x = tensor(data, (1, 1, 1, 2), 4, 16)
    t = tensor(table, (1, 1), 2 if wide else 4, 32 if wide else 16)
    return library.flash_ref_rotary(ctypes.byref(x), ctypes.byref(t), ctypes.byref(t),  # call: rank
                                    ctypes.byref(x), None)


def main():
    library = ctypes.CDLL(sys.argv[1])
    group = {"mpi": Mpi, "torch": Torch}[sys.argv[3]]()
    group.meet()
    status = rotate(library, group.rank == int(sys.argv[2]))
    group.meet()
    os.write(1, f"rank {group.rank} pid {os.getpid()} status {status}\n".encode())
    group.end()


main()
