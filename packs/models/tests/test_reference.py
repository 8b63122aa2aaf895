"""Numbers that transformers computed with the same weights (see make_reference.py)."""

import copy

import chainer
import chainer.functions as F
import numpy as np
import pytest
from our_outputs import output_of
from published import REFERENCE, tensors_of, write_folder
from reference_models import (
    CASES,
    LARGE,
    factors,
    images,
    left_padding,
    padded_tokens,
    right_padding,
    some,
    sounds,
    tokens,
)

import chainer_models as cm

pytestmark = pytest.mark.usefixtures("evaluating")


def cases(*kinds):
    """Returns the names of the cases of some kinds; those that take seconds are marked."""
    return [
        pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name
        for name, (kind, *_) in CASES.items()
        if not kinds or kind in kinds
    ]


CAUSAL = [name for name, (kind, *_) in CASES.items() if kind == "causal"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Loaded models by case, each made once."""
    loaded = {}

    def load(case):
        if case not in loaded:
            folder = tmp_path_factory.mktemp("model")
            loaded[case] = cm.load_pretrained(write_folder(folder, case))
        return loaded[case]

    return load


def check_output(case, output):
    expected = REFERENCE[case]["output"]
    assert list(output.shape) == expected["shape"]
    assert np.abs(output.array).max() == pytest.approx(expected["largest"], rel=1e-4)
    # A float32 network of 50 layers has logits near 1000, which have fewer decimals.
    tolerance = max(1e-4, 1e-5 * expected["largest"])
    np.testing.assert_allclose(some(output.array, 40), expected["some"], atol=tolerance)


def check_gradients(case, model, output):
    model.cleargrads()
    F.sum(output * factors(output.shape)).backward()
    expected = REFERENCE[case]["gradients"]
    tolerance = 5e-5 * expected["largest"]
    compared = 0
    for named in model.file_names():
        if not isinstance(named.parameter, chainer.Parameter):
            continue
        grad = named.parameter.grad
        if grad is None:
            grad = np.zeros_like(named.parameter.array)
        found = some(named.transform.save(grad))
        np.testing.assert_allclose(
            found, expected["some"][named.file], atol=tolerance, err_msg=named.file
        )
        compared += 1
    assert compared == len({name for name in expected["some"] if name not in model.copies()})


@pytest.mark.parametrize("case", CAUSAL)
def test_logits_and_gradients(case, models):
    model = models(case)
    output = output_of(case, model)
    check_output(case, output)
    check_gradients(case, model, output)


@pytest.mark.parametrize("case", CAUSAL)
def test_texts(case, models):
    model, ids = models(case), tokens()
    expected = REFERENCE[case]["greedy"]
    # Texts of one token would prove little.
    assert len(set(np.ravel(expected))) >= 7
    for use_cache in (True, False):
        y = cm.generate(model, ids, max_new_tokens=50, use_cache=use_cache)
        assert y[:, ids.shape[1] :].tolist() == expected
    y = cm.generate(model, ids, max_new_tokens=12, num_beams=4)
    assert y[:, ids.shape[1] :].tolist() == REFERENCE[case]["beams"]


@pytest.mark.parametrize("case", CAUSAL)
def test_texts_that_are_padded_on_the_left(case, models):
    model, ids, mask = models(case), tokens(), left_padding()
    logits = model(ids, mask=mask).array[1, 3:]
    np.testing.assert_allclose(some(logits, 20), REFERENCE[case]["padded"], atol=1e-4)
    for use_cache in (True, False):
        y = cm.generate(model, ids, mask=mask, max_new_tokens=20, use_cache=use_cache)
        assert y[:, ids.shape[1] :].tolist() == REFERENCE[case]["greedy padded"]
    # The padded text is continued as if it were alone.
    alone = cm.generate(model, ids[1:, 3:], max_new_tokens=20)
    assert alone[0, 9:].tolist() == REFERENCE[case]["greedy padded"][1]


@pytest.mark.parametrize("case", cases())
def test_names_are_complete(case, models):
    model = models(case)
    shapes = REFERENCE[case]["shapes"]
    found = {
        named.file: list(named.transform.save(named.parameter.array).shape)
        for named in model.file_names()
    }
    copies, constants = model.copies(), model.constants()
    extra = {name for name in shapes if name in copies or name in constants}
    assert found == {name: shape for name, shape in shapes.items() if name not in extra}
    assert cm.explain(model.folder).not_understood == []


@pytest.mark.parametrize("case", cases())
def test_files_are_written_as_they_were_read(case, models, tmp_path):
    model = models(case)
    cm.save_pretrained(model, tmp_path, max_shard_size=8000)
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    again = cm.load_pretrained(tmp_path)
    original = tensors_of(case)
    for named in again.file_names():
        saved = named.transform.save(named.parameter.array)
        np.testing.assert_array_equal(saved, original[named.file], err_msg=named.file)
    saved = again.config.as_dict()
    assert {**saved, "dtype": None} == {**REFERENCE[case]["config"], "dtype": None}


def rounded(case, dtype):
    """Returns the tensors of a case in another type of numbers."""
    # It tells NumPy about bfloat16.
    pytest.importorskip("ml_dtypes")
    return {
        name: array.astype(dtype) if array.dtype.kind == "f" else array
        for name, array in tensors_of(case).items()
    }


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", cases())
def test_shards_of_other_types(case, dtype, tmp_path):
    tensors = rounded(case, dtype)
    model = cm.load_pretrained(write_folder(tmp_path, case, tensors, shards=3))
    for named in model.file_names():
        array = named.parameter.array
        assert array.dtype == ("f" if tensors[named.file].dtype != "i8" else "i8")
        found = named.transform.save(array)
        np.testing.assert_array_equal(
            found, tensors[named.file].astype(found.dtype), err_msg=named.file
        )


@pytest.mark.parametrize("case", [n for n, (kind, *_) in CASES.items() if kind == "encoder"])
def test_encoders_with_padding(case, models):
    model = models(case)
    output = output_of(case, model)
    check_output(case, output)
    check_gradients(case, model, output)


@pytest.mark.parametrize("case", cases("head"))
def test_heads_for_other_tasks(case, models):
    model, ids, mask = models(case), tokens(), right_padding()
    ids[mask == 0] = 1
    output = output_of(case, model)
    if output.ndim == 2:
        # The last token of each text is found by the padding token, too.
        alone = model(ids[1:, :9]).array
        np.testing.assert_allclose(output.array[1:], alone, atol=1e-5)
    check_output(case, output)
    check_gradients(case, model, output)
    if hasattr(model, "make_cache"):
        with pytest.raises(TypeError, match="does not generate text"):
            cm.generate(model, ids)


@pytest.mark.parametrize("case", [n for n, (kind, *_) in CASES.items() if kind == "sequence"])
def test_encoder_and_decoder(case, models):
    model, ids, mask = models(case), tokens(), right_padding()
    output = output_of(case, model)
    # Scores without a scale are large.
    check_output(case, output)
    check_gradients(case, model, output)
    for use_cache in (True, False):
        y = cm.generate(model, inputs=ids, mask=mask, max_new_tokens=50, use_cache=use_cache)
        assert y[:, 1:].tolist() == REFERENCE[case]["greedy"]
    y = cm.generate(model, inputs=ids, mask=mask, max_new_tokens=12, num_beams=4)
    assert y[:, 1:].tolist() == REFERENCE[case]["beams"]


@pytest.mark.parametrize("case", cases("image", "named"))
def test_images(case, models):
    model = models(case)
    output = output_of(case, model)
    check_output(case, output)
    if CASES[case][0] == "named":
        # As the reference: see make_reference.py.
        model = in_float64(model)
        output = output_of(case, model)
    check_gradients(case, model, output)


def in_float64(model):
    """Returns a copy whose parameters and running statistics are float64."""
    model = copy.deepcopy(model)
    for link in model.links():
        for name, value in vars(link).items():
            if isinstance(value, np.ndarray) and value.dtype == np.float32:
                setattr(link, name, value.astype("d"))
    for parameter in model.params():
        parameter.array = parameter.array.astype("d")
    return model


def test_clip(models):
    model = models("clip")
    output = output_of("clip", model)
    check_output("clip", output)
    check_gradients("clip", model, output)
    padded = model(padded_tokens(), images()).array
    np.testing.assert_allclose(some(padded, 6), REFERENCE["clip"]["padded"], atol=1e-4)


def test_whisper(models):
    model, features = models("whisper"), sounds()
    output = output_of("whisper", model)
    check_output("whisper", output)
    check_gradients("whisper", model, output)
    for use_cache in (True, False):
        y = cm.generate(model, inputs=features, max_new_tokens=50, use_cache=use_cache)
        assert y[:, 1:].tolist() == REFERENCE["whisper"]["greedy"]
