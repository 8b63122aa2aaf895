"""Jobs with chainercv2: models for classification and segmentation, forward and backward."""

import numpy as np
from jobs.training import as_array, check_gradients, check_npz

import chainer
import chainer.functions as F


def _differentiate(name, size=224, **options):
    """Computes the loss of one image and its gradients, and saves and loads the model."""
    from chainercv2.model_provider import get_model

    model = get_model(name, pretrained=False, **options)
    images = np.random.RandomState(0).uniform(-1, 1, (1, 3, size, size)).astype(np.float32)
    # One image has no statistics of a batch.
    with chainer.using_config("train", False):
        outputs = model(images)
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    model.cleargrads()
    loss = sum(F.mean(output**2) for output in outputs)
    assert np.isfinite(as_array(loss))
    loss.backward()
    check_gradients(model, every=False)
    check_npz(model)


def resnet18():
    """ResNet-18: forward, backward, npz."""
    _differentiate("resnet18")


def seresnet18():
    """SE-ResNet-18: forward, backward, npz."""
    _differentiate("seresnet18")


def densenet121():
    """DenseNet-121: forward, backward, npz."""
    _differentiate("densenet121")


def mobilenet():
    """MobileNet x0.25: forward, backward, npz."""
    _differentiate("mobilenet_wd4")


def mobilenetv2():
    """MobileNetV2 x0.25: forward, backward, npz."""
    _differentiate("mobilenetv2_wd4")


def mobilenetv3():
    """MobileNetV3 large: forward, backward, npz."""
    _differentiate("mobilenetv3_large_w1")


def shufflenetv2():
    """ShuffleNetV2 x0.5: forward, backward, npz."""
    _differentiate("shufflenetv2_wd2")


def squeezenet():
    """SqueezeNet 1.1: forward, backward, npz."""
    _differentiate("squeezenet_v1_1")


def efficientnet():
    """EfficientNet-B0: forward, backward, npz."""
    _differentiate("efficientnet_b0")


def ghostnet():
    """GhostNet: forward, backward, npz."""
    _differentiate("ghostnet")


def condensenet():
    """CondenseNet-74: forward, backward, npz."""
    _differentiate("condensenet74_c4_g4")


def resnet20_cifar10():
    """ResNet-20 for CIFAR-10: forward, backward, npz."""
    _differentiate("resnet20_cifar10", 32)


def deeplabv3():
    """DeepLabv3 with ResNet(D)-50b, for segmentation: forward, backward, npz."""
    _differentiate("deeplabv3_resnetd50b_voc", 128, in_size=(128, 128), aux=True)
