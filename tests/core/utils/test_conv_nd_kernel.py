"""CUDA sources for patches of N-dimensional images, compiled as C++ for a loop over elements."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

from chainer.utils.conv_nd import col2im_nd_cpu, im2col_nd_cpu
from chainer.utils.conv_nd_kernel import Col2imNDKernel, Im2colNDKernel

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def compiled(kernel, folder):
    """Returns a function that runs the operation for each element of the result, as CuPy does."""
    inputs, output, operation, name = kernel
    numbers = re.findall(r"int32 (\w+)", inputs)
    source, result = inputs.split(",")[0].split()[-1], output.split()[-1]
    parameters = ", ".join([f"const T* {source}", *[f"int {n}" for n in numbers], "T* all, int n"])
    program = (
        f'using T = float;\nextern "C" void {name}({parameters}) {{\n'
        f"for (int i = 0; i < n; ++i) {{ T& {result} = all[i];\n{operation}\n}} }}\n"
    )
    path = folder / f"{name}.cpp"
    path.write_text(program)
    library = folder / f"{name}.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-o", library, path], check=True)
    function = getattr(ctypes.CDLL(str(library)), name)

    def run(x, sizes, y):
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, y)]
        assert len(sizes) == len(numbers)
        function(pointers[0], *sizes, pointers[1], y.size)
        return y

    return run


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_kernels_compute_what_the_reference_computes(ndim, tmp_path):
    size, ksize, stride, pad = (5, 6, 4)[:ndim], (2, 3, 2)[:ndim], (2, 1, 1)[:ndim], (1,) * ndim
    dilate = (2, 1, 1)[:ndim]
    x = np.arange(6 * np.prod(size), dtype="f").reshape(2, 3, *size)
    col = im2col_nd_cpu(x, ksize, stride, pad, dilate=dilate)
    out = col.shape[-ndim:]
    sizes = [*size, *out, *ksize, *stride, *pad, *dilate]
    found = compiled(Im2colNDKernel.generate(ndim), tmp_path)(x, sizes, np.empty_like(col))
    np.testing.assert_array_equal(found, col)
    back = compiled(Col2imNDKernel.generate(ndim), tmp_path)(found, sizes, np.empty_like(x))
    np.testing.assert_array_equal(back, col2im_nd_cpu(col, stride, pad, size, dilate=dilate))


def test_arguments_of_elementwise():
    """In the order in which programs of release 7 pass the numbers."""
    assert Im2colNDKernel.generate(1) == Im2colNDKernel().generate(1)
    inputs, output, _, name = Im2colNDKernel.generate(2)
    order = [f"int32 {n}_{i}" for n in ("d", "out", "k", "s", "p", "di") for i in range(2)]
    assert inputs.split(", ") == ["raw T img", *order]
    assert (output, name) == ("T col", "im2col_2d")
    assert Col2imNDKernel.generate(2)[1::2] == ("T img", "col2im_2d")
