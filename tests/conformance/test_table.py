"""The operation-spec table itself."""

import re

import pytest

from chainer.core import registries
from chainer.plugins.testing import specs
from chainer.plugins.testing.op_spec import OpSpec, Sample

# Functions that are not in the table, with the reason.
EXEMPT = {
    "forget": "calls the function it is given; tested by itself",
}

# Functions whose rows are still to be written. The list may only become shorter.
_NOT_YET = """
absolute add arccos arcsin arctan arctan2 argmax argmin average average_pooling_2d
average_pooling_nd batch_det batch_inv batch_l2_norm_squared batch_matmul batch_renormalization bias
bilinear broadcast cast ceil clip clipped_relu concat convolution_nd copy cos cosh crelu cumsum
deconvolution_2d deconvolution_nd depth2space depthwise_convolution_2d det dilated_convolution_2d
dstack elu erf erfc exp expand_dims expm1 fft fix fixed_batch_normalization
fixed_batch_renormalization flatten flip fliplr flipud floor fmod gaussian get_item gumbel_softmax
hard_sigmoid hstack identity ifft im2col inv layer_normalization leaky_relu linear_interpolate
local_convolution_2d local_response_normalization log log10 log1p log2 log_softmax logsumexp matmul
max max_pooling_nd maximum maxout mean min minimum moveaxis n_step_bigru n_step_bilstm n_step_birnn
n_step_gru n_step_lstm n_step_rnn normalize pad pad_sequence permutate prelu prod repeat
resize_images roi_pooling_2d rollaxis rsqrt scale scatter_add select_item selu separate shift sign
simplified_dropconnect sin sinh slstm softmax softplus space2depth spatial_pyramid_pooling_2d
spatial_transformer_grid spatial_transformer_sampler split_axis sqrt square squared_difference
squeeze stack sum_to swapaxes swish tan tensordot tile transpose transpose_sequence tree_lstm
unpooling_2d unpooling_nd upsampling_2d vstack where zoneout
"""


def our_functions():
    """Names of the functions (not the nodes) our own packs registered."""
    registries.functions.load_all()
    return {
        entry.name
        for entry in registries.functions.entries()
        if entry.name[0].islower() and entry.target.startswith("chainer.functions.")
    }


def test_every_function_has_a_row():
    covered = {name for spec in specs.all_specs() for name in spec.functions}
    assert our_functions() - covered - set(EXEMPT) - set(_NOT_YET.split()) == set()


def test_rows_are_about_functions_that_exist():
    covered = {name for spec in specs.all_specs() for name in spec.functions}
    assert covered - our_functions() == set()


def test_exemptions_are_needed():
    covered = {name for spec in specs.all_specs() for name in spec.functions}
    assert covered & set(EXEMPT) == set()


@pytest.mark.parametrize("row", specs.all_specs(), ids=lambda row: row.name)
def test_rows(row):
    assert isinstance(row, OpSpec)
    assert re.fullmatch(r"[a-z0-9_]+", row.name)
    assert 0 <= row.gradient_order <= 2
    first = list(row.samples(row.draw()))
    second = list(row.samples(row.draw()))
    assert first
    for one, other in zip(first, second, strict=True):
        assert isinstance(one, Sample)
        assert [a.tolist() for a in one.arrays] == [a.tolist() for a in other.arrays]
        size = [a.size for a in one.arrays]
        assert one.kind == "empty" or 0 not in size
        assert max(size, default=0) <= 2000, "samples are to be small"
        if one.kind == "zero-dim":
            assert any(a.ndim == 0 for a in one.arrays)
    for bad in row.errors(row.draw()) if row.errors else ():
        assert bad.match, f"{bad}: say what the message must contain"


def test_two_rows_of_one_name(monkeypatch):
    from chainer.plugins.testing.specs import activation

    monkeypatch.setattr(activation, "SPECS", activation.SPECS * 2)
    with pytest.raises(ValueError, match=r"have one name: .*relu"):
        specs.all_specs()
