"""Helpers for tests of converters."""

from onnx_chainer.testing import get_test_data_set as get_test_data_set
from onnx_chainer.testing import input_generator as input_generator
from onnx_chainer.testing import test_onnxruntime as test_onnxruntime
