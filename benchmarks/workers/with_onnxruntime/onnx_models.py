"""ResNet-50 and a decoder of the size of GPT-2 in onnxruntime, with all its optimizations"""

from __future__ import annotations

import os

import onnx_files
import onnxruntime
from bench_case import Case

UNIT = "ms"


def case(make, sample):
    def prepare():
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
        options.inter_op_num_threads = 1
        # The data of the model are not needed when the session has them.
        session = onnxruntime.InferenceSession(
            make().SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        inputs = {"x": sample()}

        def call():
            return session.run(None, inputs)[0]

        return Case([("", call)], lambda: onnx_files.summary(call()))

    return prepare


CASES = {name: case(make, sample) for name, (make, sample) in onnx_files.MODELS.items()}
