# SPDX-License-Identifier: BSD-3-Clause
"""The paper on small GPU messages: latency, bandwidth and rate by protocol."""
import os

TITLE = "Small GPU messages"
PAPER = ("Paper: eager protocols for small messages between GPUs (figures 3 to 11). What can be had "
         "without a GPU is **emulated**: device memory with the costs that the reference gives.")
EXPERIMENTS = []
ABSENT = ["figures 3 to 8: `nodewise bench channel` prints them, no table is kept yet",
          "figures 9 to 11, the lattice Boltzmann and Lennard-Jones codes",
          "every figure on a real GPU"]


def words(name, data):
    return ""
