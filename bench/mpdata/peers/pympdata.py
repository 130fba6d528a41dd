# SPDX-License-Identifier: BSD-3-Clause
"""Times PyMPDATA: pympdata.py N M L. For each line of input, it makes a step and prints the
ns per cell. It uses one thread, limited, without h, periodic, two passes; PYTHONPATH
contains PyMPDATA."""
import os
import sys
import time

os.environ["NUMBA_NUM_THREADS"] = "1"
import numpy as np
from PyMPDATA import Options, ScalarField, Solver, Stepper, VectorField
from PyMPDATA.boundary_conditions import Periodic

n = tuple(map(int, sys.argv[1:4]))
options = Options(n_iters=2, nonoscillatory=True)
sides = (Periodic(), Periodic(), Periodic())
x = 1 + np.random.default_rng(1).random(n)
u = [np.full([n[a] + (a == b) for a in range(3)], 0.1) for b in range(3)]
solver = Solver(Stepper(options=options, grid=n, n_threads=1), ScalarField(x, options.n_halo, sides),
                VectorField(tuple(u), options.n_halo, sides))
solver.advance(1)
for line in sys.stdin:
    start = time.perf_counter()
    solver.advance(1)
    print("ns %.2f" % ((time.perf_counter() - start) * 1e9 / np.prod(n)), flush=True)
