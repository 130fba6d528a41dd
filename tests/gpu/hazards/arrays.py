#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in GPU memory in the calls of mpi4py, by two ranks.

    arrays.py cupy|torch|driver check
    arrays.py cupy|torch|driver direct|hand [LARGEST [TURNS]]

check: messages and collective calls on arrays of every size, every byte compared.
direct: latency where MPI gets the arrays themselves (under the preloaded library);
hand: where the program copies each message to pinned host memory and back. Rows are
"BYTES MEDIAN_US". "driver" makes arrays by the CUDA driver alone, without a package.
Exit status 77 where mpi4py or the package is missing.
"""
import ctypes
import statistics
import sys
import time


def absent(words):
    print("absent arrays: %s" % words, flush=True)
    sys.exit(77)


try:
    import numpy
    from mpi4py import MPI
except (ImportError, RuntimeError) as missing:
    absent(missing)

WORLD = MPI.COMM_WORLD
RANK = WORLD.Get_rank()
PEER = 1 - RANK
CHECKED = [8, 100, 1024, 5000, 65536, 300001, 1 << 20, 4 << 20]


class Cupy:
    def __init__(self):
        import cupy
        import cupyx
        self.cupy, self.cupyx = cupy, cupyx
        cupy.cuda.Device(0).use()
        self.name = "CuPy " + cupy.__version__

    def new(self, host):
        return self.cupy.asarray(host)

    def read(self, array):
        return self.cupy.asnumpy(array)

    def pinned(self, size):
        return self.cupyx.empty_pinned(size, dtype=numpy.uint8)

    def out(self, array, host):
        array.get(out=host)

    def back(self, array, host):
        array.set(host)
        self.cupy.cuda.get_current_stream().synchronize()

    def wait(self):
        self.cupy.cuda.Device().synchronize()


class Torch:
    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU")
        self.torch = torch
        self.name = "PyTorch " + torch.__version__

    def new(self, host):
        return self.torch.from_numpy(host).to("cuda")

    def read(self, array):
        return array.cpu().numpy()

    def pinned(self, size):
        return self.torch.empty(size, dtype=self.torch.uint8, pin_memory=True).numpy()

    def out(self, array, host):
        self.torch.from_numpy(host).copy_(array)

    def back(self, array, host):
        array.copy_(self.torch.from_numpy(host))
        self.torch.cuda.synchronize()

    def wait(self):
        self.torch.cuda.synchronize()


class Driver:
    """Memory of cuMemAlloc as an array of the CUDA array interface."""

    class Array:
        def __init__(self, address, size):
            self.address, self.size = address, size
            self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "version": 3,
                                             "data": (address, False)}

    def __init__(self):
        try:
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as missing:
            raise RuntimeError(missing) from missing
        context = ctypes.c_void_p()
        self.must(self.cuda.cuInit(0))
        self.must(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self.must(self.cuda.cuCtxSetCurrent(context))
        self.name = "the driver's memory"

    @staticmethod
    def must(code):
        if code:
            raise RuntimeError("the CUDA driver answers %d" % code)

    def new(self, host):
        address = ctypes.c_uint64()
        self.must(self.cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(host.size)))
        array = Driver.Array(address.value, host.size)
        self.back(array, host)
        return array

    def read(self, array):
        host = numpy.empty(array.size, dtype=numpy.uint8)
        self.out(array, host)
        return host

    def pinned(self, size):
        pointer = ctypes.c_void_p()
        self.must(self.cuda.cuMemHostAlloc(ctypes.byref(pointer), ctypes.c_size_t(size), 0))
        return numpy.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_uint8)), (size,))

    def out(self, array, host):
        self.must(self.cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(host.ctypes.data),
                                            ctypes.c_uint64(array.address), ctypes.c_size_t(array.size)))

    def back(self, array, host):
        self.must(self.cuda.cuMemcpyHtoD_v2(ctypes.c_uint64(array.address),
                                            ctypes.c_void_p(host.ctypes.data), ctypes.c_size_t(host.size)))
        self.wait()

    def wait(self):
        self.must(self.cuda.cuStreamSynchronize(None))


def contents(size, rank):
    return ((numpy.arange(size) * 7 + rank * 101 + size) % 251).astype(numpy.uint8)


def check(arrays):
    wrong = 0
    for size in CHECKED:
        out = arrays.new(contents(size, RANK))
        into = arrays.new(numpy.zeros(size, dtype=numpy.uint8))
        arrays.wait()
        WORLD.Sendrecv(out, PEER, recvbuf=into, source=PEER)
        wrong += int((arrays.read(into) != contents(size, PEER)).sum())
        both = arrays.new(numpy.zeros(2 * size, dtype=numpy.uint8))
        arrays.wait()
        WORLD.Allgather(out, both)
        expected = numpy.concatenate([contents(size, 0), contents(size, 1)])
        wrong += int((arrays.read(both) != expected).sum())
    wrong = WORLD.allreduce(wrong)
    if RANK == 0:
        print("%s arrays, %s" % ("FAULT %d bytes wrong in" % wrong if wrong else "ok", arrays.name), flush=True)
    return wrong > 0


def one_way(arrays, by_hand, out, into, host):
    """One round trip: to the peer and back."""
    def send():
        if by_hand:
            arrays.out(out, host)
        WORLD.Send(host if by_hand else out, PEER)

    def receive():
        WORLD.Recv(host if by_hand else into, PEER)
        if by_hand:
            arrays.back(into, host)

    for step in ((send, receive) if RANK == 0 else (receive, send)):
        step()


def latency(arrays, by_hand, largest, turns):
    size = 8
    while size <= largest:
        out, into = arrays.new(contents(size, RANK)), arrays.new(contents(size, RANK))
        host = arrays.pinned(size)
        seconds = []
        count = max(turns // (8 if size > 65536 else 1), 3)
        arrays.wait()
        WORLD.Barrier()
        for _ in range(count + count // 5 + 2):
            since = time.perf_counter()
            one_way(arrays, by_hand, out, into, host)
            seconds.append((time.perf_counter() - since) / 2)
        right = (arrays.read(into) == contents(size, PEER)).all()
        if not WORLD.allreduce(bool(right), MPI.LAND):
            if RANK == 0:
                print("FAULT arrays, %s: %d bytes are wrong" % (arrays.name, size), flush=True)
            return 1
        if RANK == 0:
            print("%d %.2f" % (size, statistics.median(seconds[-count:]) * 1e6), flush=True)
        size *= 8
    return 0


def main():
    kinds = {"cupy": Cupy, "torch": Torch, "driver": Driver}
    if len(sys.argv) < 3 or sys.argv[1] not in kinds or sys.argv[2] not in ("check", "direct", "hand"):
        sys.exit(__doc__)
    try:
        arrays = kinds[sys.argv[1]]()
    except (ImportError, RuntimeError) as missing:
        absent(missing)
    if sys.argv[2] == "check":
        sys.exit(check(arrays))
    if RANK == 0:
        print("# %s, %s" % (arrays.name, MPI.Get_library_version().split("\n")[0]), flush=True)
    sys.exit(latency(arrays, sys.argv[2] == "hand", int(sys.argv[3]) if len(sys.argv) > 3 else 4 << 20,
                     int(sys.argv[4]) if len(sys.argv) > 4 else 200))


main()
