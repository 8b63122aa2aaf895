"""Libraries of CUDA that do nothing, so that cuDNN loads and plans where there is no driver.

cuDNN links to the driver, asks for the versions of the runtime and of cuBLASLt, loads the kernels
of some plans, and needs nothing more of them to plan for a device it is told the properties of.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_FAILING = "int {name}(void) {{ return 100; }}\n"

_DRIVER = """
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = 0; return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorName(int error, const char **text) { *text = "no driver"; return 0; }
int cuGetErrorString(int error, const char **text) { *text = "no driver"; return 0; }
"""

#: Engines of convolutions that load kernels when they plan are left out so.
_LOADS_NOTHING = "".join(
    _FAILING.format(name=name)
    for name in (
        "cuModuleGetFunction",
        "cuModuleLoadData",
        "cuModuleUnload",
        "cuTensorMapEncodeIm2col",
        "cuTensorMapEncodeTiled",
    )
)

#: For graphs that have no other engines: kernels are loaded, in a way.
_LOADS_ALL = """
int cuLibraryLoadData(void **library) { *library = (void *)16; return 0; }
int cuLibraryUnload(void *library) { return 0; }
int cuLibraryGetKernel(void **kernel) { *kernel = (void *)32; return 0; }
int cuKernelGetFunction(void **function) { *function = (void *)48; return 0; }
int cuKernelGetAttribute(int *value) { *value = 64; return 0; }
int cuKernelSetAttribute(void) { return 0; }
int cuModuleLoadData(void **module) { *module = (void *)16; return 0; }
int cuModuleUnload(void *module) { return 0; }
int cuModuleGetFunction(void **function) { *function = (void *)48; return 0; }
int cuFuncGetAttribute(int *value) { *value = 64; return 0; }
int cuFuncSetAttribute(void) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count) { *count = 2; return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count) { *count = 2; return 0; }
int cuOccupancyMaxActiveClusters(int *count) { *count = 132; return 0; }
int cuOccupancyMaxPotentialClusterSize(int *size) { *size = 8; return 0; }
""" + "".join(
    _FAILING.format(name=name)
    for name in (
        "cuCtxGetCurrent",
        "cuCtxGetLimit",
        "cuCtxPopCurrent",
        "cuCtxPushCurrent",
        "cuGetExportTable",
        "cuLaunchCooperativeKernel",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuLibraryLoadFromFile",
        "cuLinkAddData",
        "cuLinkComplete",
        "cuLinkCreate",
        "cuLinkDestroy",
        "cuStreamGetCtx",
        "cuTensorMapEncodeIm2col",
        "cuTensorMapEncodeTiled",
    )
)

#: Attributes 75 and 76 are the compute capability, 16 the number of multiprocessors.
_RUNTIME = """
int cudaGetDevice(int *device) { *device = 0; return 0; }
int cudaGetDeviceCount(int *count) { *count = 1; return 0; }
int cudaDriverGetVersion(int *version) { *version = 13000; return 0; }
int cudaRuntimeGetVersion(int *version) { *version = 13000; return 0; }
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 16 ? 132 : 0;
    return 0;
}
const char *cudaGetErrorString(int error) { return "no driver"; }
int cudaGetLastError(void) { return 0; }
"""

#: Without status 0 from cuBLASLt, engines that would use it are not candidates.
_CUBLAS_LT = "#include <stddef.h>\nsize_t cublasLtGetVersion(void) { return 130000; }\n" + "".join(
    _FAILING.format(name=f"cublasLt{name}")
    for name in (
        "Create",
        "Destroy",
        "GetProperty",
        "GroupedMatrixLayoutCreate",
        "Matmul",
        "MatmulAlgoGetHeuristic",
        "MatmulDescCreate",
        "MatmulDescDestroy",
        "MatmulDescGetAttribute",
        "MatmulDescSetAttribute",
        "MatmulPreferenceCreate",
        "MatmulPreferenceDestroy",
        "MatmulPreferenceSetAttribute",
        "MatrixLayoutCreate",
        "MatrixLayoutDestroy",
        "MatrixLayoutGetAttribute",
        "MatrixLayoutSetAttribute",
        "MatrixTransform",
        "MatrixTransformDescCreate",
        "MatrixTransformDescDestroy",
        "MatrixTransformDescGetAttribute",
        "MatrixTransformDescSetAttribute",
    )
)

_LIBRARIES = {
    "libcudart.so.13": _RUNTIME,
    "libcublasLt.so.13": _CUBLAS_LT,
    "libcudart.so.12": _RUNTIME,
    "libcublasLt.so.12": _CUBLAS_LT,
}


def compiler() -> str | None:
    """Returns a C compiler, or None."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def environment(folder: Path, loads: bool) -> dict[str, str]:
    """Builds the libraries in a folder; returns the environment of a process that uses them.

    Args:
        folder: The folder.
        loads: Whether the driver seems to load kernels.
    """
    command = compiler()
    assert command is not None
    driver = _DRIVER + (_LOADS_ALL if loads else _LOADS_NOTHING)
    for name, text in {**_LIBRARIES, "libcuda.so.1": driver}.items():
        source = folder / f"{name}.c"
        source.write_text(text)
        subprocess.run(
            [command, "-shared", "-fPIC", "-w", f"-Wl,-soname,{name}", "-o", folder / name, source],
            check=True,
        )
    path = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{path}" if path else str(folder)}
