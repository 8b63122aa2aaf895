"""Fine-tunes a model of ONNX on handwritten digits, exports it, and runs it in onnxruntime.

The model is a ResNet-18: the file of ``--model``, else torchvision's with random weights if
torchvision is installed, else the same graph made with the package onnx. Nothing is downloaded.
Prints the accuracy on held-out data in Chainer, in onnxruntime, and with weights of 8 bits.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import chainer
import chainer.functions as F
import chainer.links as L


def write_resnet18(path, width=64, classes=1000, size=32, seed=0):
    """Writes a ResNet-18 with random weights and the names that torchvision gives them.

    Args:
        path: File to write.
        width: Channels of the first layers: 64 in the paper.
        classes: Number of outputs.
        size: Height and width of the images.
        seed: Seed of the weights.
    """
    random = np.random.RandomState(seed)
    nodes, weights = [], []

    def add(operator, inputs, **attributes):
        output = f"{operator}_{len(nodes)}"
        nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def weight(name, array):
        weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def conv(x, name, before, after, ksize, stride=1):
        scale = (2 / (before * ksize**2)) ** 0.5
        array = random.standard_normal((after, before, ksize, ksize)) * scale
        pads = [ksize // 2] * 4
        inputs = [x, weight(f"{name}.weight", array)]
        return add("Conv", inputs, kernel_shape=[ksize] * 2, strides=[stride] * 2, pads=pads)

    def norm(x, name, channels):
        parts = {"weight": 1, "bias": 0, "running_mean": 0, "running_var": 1}
        inputs = [weight(f"{name}.{part}", np.full(channels, v)) for part, v in parts.items()]
        return add("BatchNormalization", [x, *inputs])

    h = add("Relu", [norm(conv("images", "conv1", 3, width, 7, 2), "bn1", width)])
    h = add("MaxPool", [h], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    before = width
    for layer in range(1, 5):
        after = width * 2 ** (layer - 1)
        for block in range(2):
            name = f"layer{layer}.{block}"
            stride = 2 if layer > 1 and block == 0 else 1
            y = conv(h, f"{name}.conv1", before, after, 3, stride)
            y = add("Relu", [norm(y, f"{name}.bn1", after)])
            y = norm(conv(y, f"{name}.conv2", after, after, 3), f"{name}.bn2", after)
            if stride > 1:
                h = conv(h, f"{name}.downsample.0", before, after, 1, stride)
                h = norm(h, f"{name}.downsample.1", after)
            h = add("Relu", [add("Add", [y, h])])
            before = after
    h = add("Flatten", [add("GlobalAveragePool", [h])])
    inputs = [
        weight("fc.weight", random.standard_normal((classes, before)) * before**-0.5),
        weight("fc.bias", np.zeros(classes)),
    ]
    scores = add("Gemm", [h, *inputs], transB=1)
    graph = helper.make_graph(
        nodes,
        "resnet18",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 3, size, size])],
        [helper.make_tensor_value_info(scores, TensorProto.FLOAT, ["n", classes])],
        weights,
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def write_torchvision_resnet18(path, size=32):
    """Writes torchvision's ResNet-18 with random weights, and returns it.

    Raises:
        ImportError: torchvision is not installed.
    """
    import torch
    import torchvision

    model = torchvision.models.resnet18(weights=None).eval()
    # PyTorch's exporter writes equal arrays once. A trained model has none; in this one the factors
    # of all normalizations are equal.
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter.data += 1e-3 * torch.randn_like(parameter)
    torch.onnx.export(
        model,
        (torch.zeros(1, 3, size, size),),
        path,
        input_names=["images"],
        dynamic_axes={"images": {0: "n"}},
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        dynamo=False,
    )
    return model


def without_head(proto):
    """Removes the last operator of a model, so that its input is the output of the model."""
    head = proto.graph.node[-1]
    del proto.graph.node[-1]
    del proto.graph.output[:]
    proto.graph.output.append(
        helper.make_tensor_value_info(head.input[0], TensorProto.FLOAT, ["n", "features"])
    )
    used = {name for node in proto.graph.node for name in node.input}
    kept = [tensor for tensor in proto.graph.initializer if tensor.name in used]
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(kept)
    return proto


class Classifier(chainer.Chain):
    """A loaded model with a new last layer.

    Args:
        features: The loaded model.
        classes: Number of classes.
    """

    def __init__(self, features, classes):
        super().__init__()
        with self.init_scope():
            self.features = features
            self.head = L.Linear(None, classes)

    def forward(self, x):
        return self.head(self.features(x))


def get_digits(size):
    """Returns training and held-out data: images of 3 channels in [0, 1], and labels.

    Args:
        size: Height and width of the images, a multiple of 8.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit(f"this example needs: {chainer.utils.install_command('onnx-chainer[examples]')}")
    data = load_digits()
    images = (data.images / 16).astype(np.float32)
    images = images.repeat(size // 8, axis=1).repeat(size // 8, axis=2)
    images = np.repeat(images[:, None], 3, axis=1)
    order = np.random.RandomState(0).permutation(len(images))
    dataset = chainer.datasets.TupleDataset(images[order], data.target[order].astype(np.int32))
    return chainer.datasets.split_dataset(dataset, len(images) * 4 // 5)


def train(model, dataset, epochs, captures):
    """Trains a model.

    Args:
        model: The classifier.
        dataset: Images and labels.
        epochs: Number of epochs.
        captures: Whether the step is recorded and repeated.
    """
    optimizer = chainer.optimizers.Adam(1e-3).setup(model)

    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    call = chainer.capture(step, model, optimizer) if captures else step
    iterator = chainer.iterators.SerialIterator(dataset, 32)
    while iterator.epoch < epochs:
        x, t = chainer.dataset.concat_examples(iterator.next())
        loss = call(x, t)
        if iterator.is_new_epoch:
            print(f"epoch {iterator.epoch}: loss {float(loss.array):.3f}")


def accuracy_in_runtime(path, x, t):
    """Returns the accuracy that onnxruntime computes for a file."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"images": x})
    return float((scores.argmax(axis=1) == t).mean())


def main(arguments=None):
    """Loads, trains, exports and compares.

    Returns:
        dict: Accuracies by ``"chainer"``, ``"onnxruntime"`` and ``"int8"``.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="file of a model whose last operator is a layer")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--width", type=int, default=64, help="channels of the model made here")
    parser.add_argument("--size", type=int, default=32, help="size of the images, a multiple of 8")
    parser.add_argument("--train", nargs="*", metavar="PATTERN", help="names of weights to train")
    parser.add_argument("--capture", action="store_true", help="record and repeat the step")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    parser.add_argument("--out", type=Path, default=Path("fine_tuned"), help="folder to write to")
    options = parser.parse_args(arguments)

    import onnx_chainer

    chainer.utils.seed(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.model
    if path is None:
        path = options.out / "resnet18.onnx"
        try:
            if options.width != 64:
                raise ImportError("torchvision's model has 64 channels")
            write_torchvision_resnet18(path, options.size)
        except ImportError:
            write_resnet18(path, options.width, size=options.size, seed=options.seed)

    features = onnx_chainer.load(without_head(onnx.load(path)), trainable=options.train)
    model = Classifier(features, 10)
    training_data, test_data = get_digits(options.size)
    train(model, training_data, options.epochs, options.capture)

    x, t = chainer.dataset.concat_examples(test_data)
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        accuracies = {"chainer": float(F.accuracy(model(x), t).array)}

    names = {"input_names": "images", "input_shapes": ("n", *x.shape[1:])}
    onnx_chainer.export(model, x[:1], options.out / "digits.onnx", **names)
    accuracies["onnxruntime"] = accuracy_in_runtime(options.out / "digits.onnx", x, t)

    samples, _ = chainer.dataset.concat_examples(training_data[:256])
    path = options.out / "digits_int8.onnx"
    onnx_chainer.export_quantized(model, np.split(samples, 4), path, **names)
    accuracies["int8"] = accuracy_in_runtime(path, x, t)
    for name, accuracy in accuracies.items():
        print(f"{name:12} accuracy {accuracy:.4f}")
    return accuracies


if __name__ == "__main__":
    main()
