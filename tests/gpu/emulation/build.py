"""The libraries and the precompiled header: built once, kept in a cache.

The folder of a build is named by a hash of everything that goes into it. It is filled under a
temporary name and renamed, so that processes that build at the same time do no harm.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import requirements

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "sources"

_C = ["gcc", "-O1", "-Wall", "-fPIC", "-fvisibility=hidden"]
_CXX = ["g++", "-O3", "-std=gnu++17", "-fcx-limited-range", "-Wall", "-fPIC", "-fvisibility=hidden"]
_LINK = ["g++", "-shared", "-Wl,-z,defs", "-static-libstdc++", "-static-libgcc"]

#: How kernels, and with them the precompiled header, are compiled.
KERNEL_FLAGS = ["-std=c++17", "-O1", "-w", "-fPIC", "-fwrapv", "-fno-math-errno", "-fpermissive"]

_CUPY_HEADERS = ("complex.cuh", "carray.cuh", "float16.cuh", "atomics.cuh", "math_constants.h")


@dataclasses.dataclass
class Library:
    """A shared library that CuPy loads.

    Attributes:
        sources: Patterns of the files it is made of.
        module: Pattern of the module of CuPy's that uses it; of its functions, what the sources do
            not define is made a stub.
        prefix: How the names of its functions begin.
        unsupported: What a stub returns.
        versioned: Whether CuPy asks for versions of symbols, called as the library.
    """

    name: str
    sources: str
    module: str = ""
    prefix: str = ""
    unsupported: int = 0
    versioned: bool = True


_LIBS = "cupy_backends/cuda/libs"
LIBRARIES = [
    Library("libcuda.so.1", "*.c"),
    Library("libcublas.so.13", "cublas_*.cpp", f"{_LIBS}/cublas.*.so", "cublas", 15),
    Library("libcublasLt.so.13", "", "", "cublas", 15),
    Library("libcurand.so.10", "curand.cpp", f"{_LIBS}/curand.*.so", "curand", 104),
    Library("libcusolver.so.12", "cusolver_*.cpp", f"{_LIBS}/cusolver.*.so", "cusolver", 9),
    Library("libcusparse.so.12", "cusparse.cpp", f"{_LIBS}/cusparse.*.so", "cusparse", 10),
    Library("libnvJitLink.so.13", "", "", "nvJitLink", 1),
    Library("libcufft.so.12", "cufft.cpp", "cupy/cuda/cufft.*.so", "cufft", 16),
    Library("libnccl.so.2", "nccl_*.cpp", f"{_LIBS}/nccl.*.so", "nccl", 5, versioned=False),
    Library("libnvrtc.so.13", "nvrtc.cpp", "cupy/cuda/jitify.*.so", "nvrtc", 11),
]


def cache_folder() -> Path:
    """Returns the folder of builds and kernels: ``CHAINER_EMULATION_CACHE`` or a default."""
    named = os.environ.get("CHAINER_EMULATION_CACHE")
    if named:
        return Path(named).resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "chainer-emulation"


def prepare() -> Path:
    """Returns the folder of a finished build; builds where it is not there."""
    final = cache_folder() / f"build-{_key()}"
    if not final.exists():
        final.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="building-", dir=final.parent))
        try:
            _build(work, final)
            work.rename(final)
        except OSError:
            if not final.exists():  # else another process was faster
                raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return final


def _key() -> str:
    """Returns a hash of our sources, of CuPy and of the compiler."""
    digest = hashlib.sha256()
    for path in sorted([*SOURCES.iterdir(), *(HERE / "include").iterdir(), Path(__file__)]):
        digest.update(path.name.encode() + path.read_bytes())
    module = requirements.runtime_module()
    state = module.stat()
    compiler = _run(["g++", "--version"])
    facts = (str(module), state.st_size, state.st_mtime_ns, str(requirements.headers()), compiler)
    digest.update(repr((*facts, _lapack())).encode())
    return digest.hexdigest()[:16]


def _build(folder: Path, final: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        jobs = [pool.submit(_build_library, folder, library) for library in LIBRARIES]
        jobs.append(pool.submit(_precompile, folder))
        for job in jobs:
            job.result()
    facts = {"module": str(requirements.runtime_module()), "include": include_options(final)}
    facts["flags"] = [_run(["g++", "--version"]), *KERNEL_FLAGS]
    facts["versions"] = requirements.versions()
    facts["functions"] = requirements.runtime_functions()
    (folder / "build.json").write_text(json.dumps(facts))


def include_options(folder: Path) -> list[str]:
    """Returns how kernels find their headers."""
    cupy = requirements.site() / "cupy" / "_core" / "include"
    cccl = [cupy / "cupy" / "_cccl" / part for part in ("thrust", "libcudacxx", "cub")]
    system = [*cccl, requirements.headers(), cupy]
    return [f"-I{folder}", f"-I{HERE / 'include'}", *(f"-isystem{path}" for path in system)]


def _precompile(folder: Path) -> None:
    header = folder / "cupy_device.hpp"
    header.write_text(
        '#include "device.hpp"\n' + "".join(f"#include <cupy/{name}>\n" for name in _CUPY_HEADERS)
    )
    output = ["-x", "c++-header", str(header), "-o", f"{header}.gch"]
    # The compiler compares how a source and the header are compiled, up to the folder.
    _run(["g++", *KERNEL_FLAGS, *include_options(folder), *output])


def _build_library(folder: Path, library: Library) -> None:
    sources = sorted(SOURCES.glob(library.sources)) if library.sources else []
    work = folder / "objects" / library.name
    work.mkdir(parents=True)
    objects = [_compile(source, work) for source in sources]
    if library.name != "libcuda.so.1":
        objects.append(_stubs(library, objects, work))
    options = [f"-Wl,-soname,{library.name}"]
    if library.versioned and library.prefix:
        versions = work / "versions"
        versions.write_text(f"{library.name} {{ global: {library.prefix}*; local: *; }};\n")
        options.append(f"-Wl,--version-script={versions}")
    output = ["-o", str(folder / library.name)]
    _run([*_LINK, *options, *map(str, objects), *output, "-ldl", "-lpthread", "-lrt"])


def _compile(source: Path, work: Path) -> Path:
    output = work / f"{source.stem}.o"
    command = _C if source.suffix == ".c" else [*_CXX, f'-DLAPACK="{_lapack()}"']
    include = f"-I{requirements.headers()}"
    _run([*command, include, "-c", str(source), "-o", str(output)])
    return output


def _stubs(library: Library, objects: list[Path], work: Path) -> Path:
    """Makes functions of what CuPy's module wants of a library and its sources do not have."""
    have = {line.split()[-1] for path in objects for line in requirements.symbols(path)}
    wanted = set()
    if library.module:
        module = next(requirements.site().glob(library.module))
        lines = requirements.symbols(module, "-D", "--undefined-only")
        wanted = {line.split()[-1].split("@")[0] for line in lines}
    names = sorted(n for n in wanted - have if n.startswith(library.prefix))
    # A library of nothing is looked up by CuPy, too.
    names = names or [f"{library.prefix}OfTheEmulation"]
    text = "#include <stdio.h>\n" + "".join(
        f'__attribute__((visibility("default"))) int {name}(void) {{\n'
        f'  fprintf(stderr, "Emulated CUDA: {name} is not emulated\\n");\n'
        f"  return {library.unsupported};\n}}\n"
        for name in names
    )
    source = work / "stubs.c"
    source.write_text(text)
    return _compile(source, work)


def _lapack() -> str:
    """Returns NumPy's LAPACK, which plays cuSOLVER, or nothing."""
    libraries = sorted(requirements.site().glob("numpy.libs/libscipy_openblas64_*.so"))
    return str(libraries[0]) if libraries else ""


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout
