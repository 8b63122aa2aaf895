"""Program: plans the samples for an H200, which need not be there, and prints what cuDNN chose.

Run by ``test_cudnn_plans.py`` in a process of its own, since cuDNN ends the process that it cannot
load a library in. The argument is ``convolutions`` or ``normalizations``. Prints a line of JSON for
each plan: case, settings, engine, workspace or error.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import cudnn

from chainer.backends.cupy.cudnn import layouts, sessions
from chainer.backends.cupy.cudnn.kernels import convolutions, normalizations
from chainer.backends.cupy.cudnn.plans import Builder, Planner, Settings, Signature
from tests.backends.cupy.cudnn_samples import SAMPLES, Sample

H200 = {
    "schema_version": 1,
    "deviceName": "NVIDIA H200",
    "deviceVer": 900,
    "driverVer": 13000,
    "cudaDeviceId": 0,
    "pciDeviceId": 0,
    "isTccDriver": 0,
    "supportCoopLaunch": 1,
    "smCountOrigin": 0,
    "multiProcessorCount": 132,
    "warpSize": 32,
    "maxGridSize": [2147483647, 65535, 65535],
    "maxBlockSize": [1024, 1024, 64],
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerSM": 2048,
    "maxCtasPerSM": 32,
    "regsPerBlock": 65536,
    "maxRegistersPerSM": 65536,
    "maxSharedMemoryPerBlock": 49152,
    "maxSharedMemoryPerBlockOptin": 232448,
    "reservedSharedMemoryPerBlock": 1024,
    "oversizedSharedMemoryPerBlock": 0,
    "totalGlobalMem": 150754820096,
    "smClockRateKHz": 1980000,
    "memClockRateKHz": 3201000,
    "memoryBusWidth": 6144,
    "l2CacheSize": 62914560,
}

#: Layers of ResNet50 at batch 64 and 224x224.
RESNET = [
    Sample("stem", (64, 3, 224, 224), (64, 3, 7, 7), (2, 2), (3, 3), (1, 1)),
    Sample("narrow", (64, 64, 56, 56), (64, 64, 1, 1), (1, 1), (0, 0), (1, 1)),
    Sample("spatial", (64, 128, 28, 28), (128, 128, 3, 3), (1, 1), (1, 1), (1, 1)),
    Sample("stride", (64, 256, 56, 56), (512, 256, 1, 1), (2, 2), (0, 0), (1, 1)),
    Sample("last", (64, 512, 7, 7), (512, 512, 3, 3), (1, 1), (1, 1), (1, 1)),
]

#: Shapes for batch normalization.
NORMALIZED = [
    (64, 64, 112, 112),
    (64, 2048, 7, 7),
    (3, 8, 4, 5),
    (2, 16, 1, 1),
    (2, 16, 2, 3, 2),
]

SETTINGS = {
    "default": Settings(),
    "deterministic": Settings(deterministic=True),
    "always": Settings(tensor_core="always"),
    "never": Settings(tensor_core="never"),
    "narrow": Settings(workspace=0),
}


def main() -> None:
    """Prints the plans."""
    planner = Planner(cudnn, device_property=cudnn.create_device_properties(json.dumps(H200)))
    print(json.dumps({"version": cudnn.backend_version()}), flush=True)
    {"convolutions": plan_convolutions, "normalizations": plan_normalizations}[sys.argv[1]](planner)


def plan_convolutions(planner: Planner) -> None:
    """Plans all samples and some layers of ResNet50."""
    for sample in SAMPLES:
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            for settings in ("default", "deterministic", "never"):
                plan(planner, sample, dtype, settings)
    for sample in RESNET:
        for dtype in ("float16", "float32"):
            for settings in SETTINGS:
                plan(planner, sample, dtype, settings)


def plan_normalizations(planner: Planner) -> None:
    """Plans batch normalization."""
    for shape in NORMALIZED:
        for dtype in ("float16", "bfloat16", "float32"):
            for what, build in (
                (normalizations.FORWARD, normalizations.build_forward),
                (normalizations.BACKWARD, normalizations.build_backward),
            ):
                signature = normalizations.signature_of(what, shape, dtype)
                line = {"case": str(shape), "dtype": dtype, "what": what, "settings": "normal"}
                show(planner, signature, build, Settings(), line)


def plan(planner: Planner, sample: Sample, dtype: str, name: str) -> None:
    """Plans the three computations in both layouts."""
    for layout in (layouts.FIRST, layouts.LAST):
        for what, build in convolutions._BUILDERS.items():
            signature = convolutions.signature_of(
                what,
                (sample.x, sample.W, sample.y),
                dtype,
                layout,
                sample.geometry,
            )
            settings = SETTINGS[name]
            if settings.workspace:
                workspace = sessions.workspace_for(signature, settings.workspace)
                settings = Settings(
                    settings.deterministic, settings.tensor_core, settings.autotune, workspace
                )
            line = {
                "case": sample.name,
                "dtype": dtype,
                "settings": name,
                "layout": layout,
                "what": what,
            }
            show(planner, signature, build, settings, line)


def show(
    planner: Planner, signature: Signature, build: Builder, settings: Settings, line: dict[str, Any]
) -> None:
    """Prints what was planned."""
    line["limit"] = settings.workspace
    try:
        found = planner.plan(signature, build, settings)
    except RuntimeError as error:
        line["error"] = str(error)
    else:
        line["engine"], line["workspace"] = found.name, found.workspace
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
