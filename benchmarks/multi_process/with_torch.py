"""Measures PyTorch's DistributedDataParallel with Gloo; the arguments are those of with_chainer.py.

The environment variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set.
"""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

ALLREDUCE_BYTES = [10**3, 10**4, 10**5, 10**6, 10**7, 10**8]


def mlp():
    return nn.Sequential(
        nn.Linear(784, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10)
    ), (784,)


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    ), (1, 28, 28)


MODELS = {"mlp": (mlp, 100), "cnn": (cnn, 32)}


def timed(call, samples, repeats=1):
    call()
    times = []
    for _ in range(samples):
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(repeats):
            call()
        times.append((time.perf_counter() - begin) / repeats)
    return times


#: As in with_chainer.py.
LAYERS, SIZE, HEADS, WORDS, LENGTH, BATCH = 6, 256, 4, 1000, 64, 4


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, SIZE)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                SIZE, HEADS, 4 * SIZE, 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(LAYERS)
        )
        self.output = nn.Linear(SIZE, WORDS)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, x):
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h, src_mask=self.mask, is_causal=True)
        return self.output(h)


def transformer(samples):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    x, t = (torch.randint(0, WORDS, (BATCH, LENGTH)) for _ in range(2))
    loss = nn.CrossEntropyLoss()
    runs, result = {}, {}
    for kind in ("fsdp", "ddp"):
        model = Transformer()
        if kind == "fsdp":
            for layer in model.layers:
                fully_shard(layer, mesh=mesh)
            fully_shard(model, mesh=mesh)
        else:
            model = nn.parallel.DistributedDataParallel(model)
        optimizer = torch.optim.Adam(model.parameters(), fused=True)

        def step(model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss(model(x).reshape(-1, WORDS), t.reshape(-1)).backward()
            optimizer.step()

        for _ in range(2):
            step()
        runs[kind], result[kind] = step, []
    for _ in range(samples):
        for kind, step in runs.items():
            dist.barrier()
            begin = time.perf_counter()
            step()
            result[kind].append(time.perf_counter() - begin)
    return result


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    words = sys.argv[1:]
    result = {}
    for name, samples in zip(words[::2], map(int, words[1::2])):
        if name == "transformer":
            result[name] = transformer(samples)
            continue
        if name == "allreduce":
            result[name] = {}
            for size in ALLREDUCE_BYTES:
                x = torch.ones(size // 4)
                repeats = max(1, min(100, 10**6 // size))
                result[name][str(size)] = {
                    "torch": timed(lambda x=x: dist.all_reduce(x.clone()), samples, repeats)
                }
            continue
        make, batch = MODELS[name]
        model, shape = make()
        parallel = nn.parallel.DistributedDataParallel(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9, fused=True)
        x, t = torch.randn(batch, *shape), torch.randint(0, 10, (batch,))
        loss = nn.CrossEntropyLoss()

        def step(parallel=parallel, optimizer=optimizer, loss=loss, x=x, t=t):
            optimizer.zero_grad()
            loss(parallel(x), t).backward()
            optimizer.step()

        for _ in range(3):  # buckets are made anew after the first
            step()
        result[name] = {"torch": timed(step, samples)}
    if dist.get_rank() == 0:
        print(json.dumps(result))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
