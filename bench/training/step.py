#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of a small transformer's training under PyTorch with Gloo.

    step.py tp=4,dp=2,pp=2,hidden=256,layers=4,seq=128,batch=8,precision=fp32

The words are those of `nodewise pattern --generate training:`, and the ranks
exchange its bytes: tensor groups divide each layer as Megatron-LM does, pipeline
stages exchange 1/tp of the activations on each rank and gather them in the tensor
group, data groups sum their gradients. A micro-batch is one sequence. Rank 0 reads
numbers of steps from standard input and prints the seconds of a step and the loss.
"""
import sys, time
import torch
import torch.distributed as dist
from torch.nn import functional

HEAD = 16  # numbers in one head of the attention
WORDS = dict(word.split("=") for word in sys.argv[1].split(","))
TP, DP, PP, HIDDEN, LAYERS, SEQ, BATCH = (
    int(WORDS[key]) for key in ("tp", "dp", "pp", "hidden", "layers", "seq", "batch"))


class Enter(torch.autograd.Function):
    """The same numbers on all ranks of the tensor group; their gradients are summed."""
    @staticmethod
    def forward(_, x):
        return x.view_as(x)
    @staticmethod
    def backward(_, gradient):
        gradient = gradient.contiguous()
        dist.all_reduce(gradient, group=Layer.group)
        return gradient


class Leave(torch.autograd.Function):
    """The sum over the tensor group."""
    @staticmethod
    def forward(_, x):
        x = x.clone()
        dist.all_reduce(x, group=Layer.group)
        return x
    @staticmethod
    def backward(_, gradient):
        return gradient


class Layer(torch.nn.Module):
    """Attention and two matrices; this rank has 12 h^2 / tp weights."""
    group = None
    def __init__(self):
        super().__init__()
        for name, rows, columns in (("qkv", 3 * HIDDEN // TP, HIDDEN), ("out", HIDDEN, HIDDEN // TP),
                                    ("up", 4 * HIDDEN // TP, HIDDEN), ("down", HIDDEN, 4 * HIDDEN // TP)):
            setattr(self, name, torch.nn.Parameter(torch.randn(rows, columns) / HIDDEN ** 0.5))

    def attend(self, x):
        q, k, v = functional.linear(x, self.qkv).view(SEQ, 3, -1, HEAD).permute(1, 2, 0, 3)
        weights = torch.softmax(q @ k.transpose(1, 2) / HEAD ** 0.5, dim=2)
        return (weights @ v).permute(1, 0, 2).reshape(SEQ, -1)

    def forward(self, x):
        inside = self.attend(Enter.apply(functional.layer_norm(x, (HIDDEN,))))
        x = x + Leave.apply(functional.linear(inside, self.out))
        inside = functional.linear(Enter.apply(functional.layer_norm(x, (HIDDEN,))), self.up)
        return x + Leave.apply(functional.linear(functional.gelu(inside), self.down))


class Rank:
    """What one rank has: its layers, its sequences and its groups."""
    def __init__(self, rank):
        self.tensor, self.data, self.stage = rank % TP, rank // TP % DP, rank // TP // DP
        self.before, self.after = rank - TP * DP, rank + TP * DP
        blocks = [[(p * DP + d) * TP + t for t in range(TP)] for p in range(PP) for d in range(DP)]
        across = [[(p * DP + d) * TP + t for d in range(DP)] for p in range(PP) for t in range(TP)]
        mine = {}
        for kind, lists in (("tensor", blocks), ("data", across)):
            for ranks in lists:  # every rank must create every group
                group = dist.new_group(ranks)
                if rank in ranks:
                    mine[kind] = group
        Layer.group, self.replicas = mine["tensor"], mine["data"]
        torch.manual_seed(1000 + self.stage * TP + self.tensor)
        self.layers = torch.nn.Sequential(*(Layer() for _ in range(LAYERS // PP)))
        torch.manual_seed(self.data)
        self.inputs, self.targets = torch.randn(2, BATCH // DP, SEQ, HIDDEN)

    def send(self, x, peer):
        dist.send(x.detach().view(TP, -1)[self.tensor].clone(), peer)

    def receive(self, peer):
        part = torch.empty(SEQ * HIDDEN // TP)
        dist.recv(part, peer)
        parts = [torch.empty_like(part) for _ in range(TP)]
        dist.all_gather(parts, part, group=Layer.group)
        return torch.cat(parts).view(SEQ, HIDDEN)

    def forward(self, number):
        """Input and output of the stage; the output of the last one is the loss."""
        x = self.receive(self.before) if self.stage else self.inputs[number].clone()
        x.requires_grad_()
        y = self.layers(x)
        if self.stage + 1 < PP:
            self.send(y, self.after)
            return x, y
        return x, functional.mse_loss(y, self.targets[number])

    def step(self):
        """All micro-batches forward, all back, then the gradients and the weights."""
        loss = torch.zeros(1)
        kept = [self.forward(number) for number in range(BATCH // DP)]
        for x, y in kept:
            if self.stage + 1 < PP:
                y.backward(self.receive(self.after))
            else:
                y.backward()
                loss += y.detach()
            if self.stage:
                self.send(x.grad, self.before)
        weights = list(self.layers.parameters())
        flat = torch.cat([w.grad.view(-1) for w in weights])
        dist.all_reduce(flat, group=self.replicas)
        with torch.no_grad():
            for w, gradient in zip(weights, flat.split([w.numel() for w in weights])):
                w -= 0.01 / BATCH * gradient.view_as(w)
                w.grad = None
        return loss


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    number, count = dist.get_rank(), torch.zeros(1, dtype=torch.int64)
    rank = Rank(number)
    while True:
        if not number:
            count[0] = int(sys.stdin.readline() or 0)
        dist.broadcast(count, 0)  # the others sleep here
        if not count:
            break
        dist.barrier()
        since = time.time()
        for _ in range(int(count)):
            loss = rank.step()
        dist.barrier()
        took = (time.time() - since) / int(count)
        dist.all_reduce(loss)
        if not number:
            print("%.4f %.6f" % (took, float(loss) / TP / BATCH), flush=True)


main()
