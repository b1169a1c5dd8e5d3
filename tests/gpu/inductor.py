# SPDX-License-Identifier: Apache-2.0
"""Runs a small transformer under torch.compile and prints one line of JSON.

The cache is $TORCHINDUCTOR_CACHE_DIR. Inductor autotunes its reductions, and
another configuration rounds otherwise: so the results are held against those
without torch.compile, and `sha256` may change from run to run.
"""
import json
import os
import sys

import torch
from torch import nn
from torch._dynamo.utils import counters
from torch._inductor import metrics

import measure

WIDTH = 512
HEADS = 8
BLOCKS = 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp_norm = nn.RMSNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, HEADS, -1).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, dim=-1))
        bias = torch.arange(length, device=x.device) / length
        weights = torch.softmax(q @ k.transpose(2, 3) / 8 + bias, dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = x + self.attend(self.attention_norm(x))
        hidden = nn.functional.gelu(self.up(self.mlp_norm(x)))
        return x + self.down(hidden)


def main():
    if "TORCHINDUCTOR_CACHE_DIR" not in os.environ:
        return "inductor.py: TORCHINDUCTOR_CACHE_DIR is not set"

    torch.manual_seed(2026)
    model = nn.Sequential(*[Block() for _ in range(BLOCKS)]).cuda().eval()
    x = torch.randn(4, 256, WIDTH).cuda()

    with torch.no_grad():
        result = torch.compile(model)(x).cpu()
        seconds = measure.seconds_since_start()
        error = (result - model(x).cpu()).abs().max().item()

    hits = (counters["inductor"]["fxgraph_cache_hit"] +
            counters["aot_autograd"]["autograd_cache_hit"])
    print(json.dumps({
        "seconds": round(seconds, 3),
        "sha256": measure.digest([result]),
        "kernels": metrics.generated_kernel_count,
        "graph_cache_hits": hits,
        "max_error": error,
    }))
    return 0 if error < 1e-3 else "inductor.py: the results are wrong"


if __name__ == "__main__":
    sys.exit(main())
