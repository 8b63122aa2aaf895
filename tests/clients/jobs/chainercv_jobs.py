"""Jobs with ChainerCV: classification, detection and segmentation, with random weights."""

import os
import tempfile

import numpy as np
from jobs.training import as_array, check_gradients, check_npz, run_recipe, step, train

import chainer
import chainer.functions as F
import chainer.links as L

SIZE = 64


def _images(count=2, size=SIZE):
    rng = np.random.RandomState(0)
    return [rng.uniform(0, 255, (3, size, size)).astype(np.float32) for _ in range(count)]


def _boxes(size=SIZE):
    box = np.array([[4, 4, size // 2, size // 2], [8, 16, size - 4, size - 8]], np.float32)
    return box, np.array([0, 2], np.int32)


def _classify(model):
    """Trains with a softmax, predicts with a FeaturePredictor, saves and loads."""
    from chainercv.links import FeaturePredictor

    images = np.stack(_images()) / 255
    classifier = L.Classifier(model)
    train(classifier, lambda: classifier(images, np.array([1, 3], np.int32)))
    predictor = FeaturePredictor(model, crop_size=SIZE, scale_size=SIZE)
    prediction = predictor.predict(_images())
    assert prediction.shape == (2, 5)
    check_npz(model)


def resnet50():
    """ResNet50: training step, FeaturePredictor, npz."""
    from chainercv.links import ResNet50

    model = ResNet50(n_class=5)
    model.pick = "fc6"  # the values before the softmax
    _classify(model)


def se_resnet50():
    """SEResNet50: training step, FeaturePredictor, npz."""
    from chainercv.links import SEResNet50

    model = SEResNet50(n_class=5)
    model.pick = "fc6"
    _classify(model)


def se_resnext50():
    """SEResNeXt50: training step, FeaturePredictor, npz."""
    from chainercv.links import SEResNeXt50

    model = SEResNeXt50(n_class=5)
    model.pick = "fc6"
    _classify(model)


def vgg16():
    """VGG16: features of several layers, and their gradients."""
    from chainercv.links import VGG16

    model = VGG16(n_class=5)
    model.pick = ("conv3_3", "pool5")
    with chainer.using_config("train", False):
        middle, last = model(np.stack(_images()))
    assert middle.shape == (2, 256, 16, 16) and last.shape == (2, 512, 2, 2)
    model.cleargrads()
    F.sum(last).backward()
    assert np.abs(model.conv1_1.conv.W.grad).max() > 0


def _detect(model, size=SIZE):
    """Predicts boxes and evaluates them as an extension of a trainer does."""
    from chainercv.evaluations import eval_detection_voc
    from chainercv.utils import apply_to_iterator

    images = _images(1, size)
    box, label = _boxes(size)
    iterator = chainer.iterators.SerialIterator(
        chainer.datasets.TupleDataset(images, [box], [label]), 1, repeat=False, shuffle=False
    )
    _, predicted, truth = apply_to_iterator(model.predict, iterator)
    boxes, labels, scores = map(list, predicted)
    assert len(boxes) == len(labels) == len(scores) == 1
    assert all(b.shape == (len(s), 4) for b, s in zip(boxes, scores))
    result = eval_detection_voc(boxes, labels, scores, *truth)
    assert set(result) == {"ap", "map"}


def ssd300():
    """SSD300: targets by MultiboxCoder, multibox_loss, training step, prediction, VOC score."""
    from chainercv.links import SSD300
    from chainercv.links.model.ssd import multibox_loss

    model = SSD300(n_fg_class=3)
    box, label = _boxes(300)
    locations, labels = zip(model.coder.encode(box, label))

    def loss():
        out_locations, confidences = model(np.stack(_images(1, 300)) - 127)
        location_loss, confidence_loss = multibox_loss(
            out_locations, confidences, np.stack(locations), np.stack(labels), 3
        )
        return location_loss + confidence_loss

    step(model, loss)
    model.use_preset("evaluate")
    _detect(model, 300)


def ssd300_evaluator():
    """SSD300: DetectionVOCEvaluator as an extension of a trainer, random transforms of SSD."""
    from chainercv.extensions import DetectionVOCEvaluator
    from chainercv.links import SSD300
    from chainercv.links.model.ssd import random_crop_with_bbox_constraints, random_distort

    model = SSD300(n_fg_class=3)
    box, label = _boxes(300)
    image = random_distort(_images(1, 300)[0])
    assert image.shape == (3, 300, 300)
    cropped = random_crop_with_bbox_constraints(image, box)
    assert cropped.shape[0] == 3
    dataset = chainer.datasets.TupleDataset([image], [box], [label])
    iterator = chainer.iterators.SerialIterator(dataset, 1, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(iterator, model, label_names=("a", "b", "c"))
    assert "main/map" in evaluator()


def faster_rcnn_vgg16():
    """FasterRCNNVGG16: training step of the whole chain (proposals, targets), prediction."""
    from chainercv.links import FasterRCNNVGG16
    from chainercv.links.model.faster_rcnn import FasterRCNNTrainChain

    # Anchors of the usual scales do not fit into a small image.
    model = FasterRCNNVGG16(n_fg_class=3, min_size=128, max_size=128, anchor_scales=[2, 4])
    chain = FasterRCNNTrainChain(model)
    box, label = _boxes(128)
    images = np.stack(_images(1, 128))

    def loss():
        return chain(images, box[None], label[None], np.array([1.0], np.float32))

    step(chain, loss)
    _detect(model, 128)


def fpn_resnet50():
    """FasterRCNNFPNResNet50: losses of proposals and heads, training step, prediction."""
    from chainercv.links import FasterRCNNFPNResNet50
    from chainercv.links.model.fpn import bbox_head_loss_post, bbox_head_loss_pre, rpn_loss

    model = FasterRCNNFPNResNet50(n_fg_class=3, min_size=128, max_size=128)
    box, label = _boxes(128)
    boxes, labels = [box, box], [label, label]

    def loss():
        x, _ = model.prepare(_images(2, 128))
        with chainer.using_config("train", False):
            features = model.extractor(x)
        locations, confidences = model.rpn(features)
        anchors = model.rpn.anchors(h.shape[2:] for h in features)
        rpn_location, rpn_confidence = rpn_loss(
            locations, confidences, anchors, [i.shape[1:] for i in x], boxes
        )
        rois, indices = model.rpn.decode(locations, confidences, anchors, x.shape)
        rois = np.vstack([rois, *boxes])
        indices = np.hstack([indices, *([i] * 2 for i in range(2))]).astype(np.int32)
        rois, indices = model.bbox_head.distribute(rois, indices)
        rois, indices, gt_locations, gt_labels = bbox_head_loss_pre(
            rois, indices, model.bbox_head.std, boxes, labels
        )
        locations, confidences = model.bbox_head(features, rois, indices)
        head_location, head_confidence = bbox_head_loss_post(
            locations, confidences, indices, gt_locations, gt_labels, 2
        )
        return rpn_location + rpn_confidence + head_location + head_confidence

    step(model, loss)
    model.use_preset("evaluate")
    _detect(model, 128)


def mask_rcnn_fpn_resnet50():
    """MaskRCNNFPNResNet50: prediction of masks, and their VOC score."""
    from chainercv.evaluations import eval_instance_segmentation_voc
    from chainercv.links import MaskRCNNFPNResNet50

    model = MaskRCNNFPNResNet50(n_fg_class=3, min_size=128, max_size=128)
    images = _images()
    # With random weights some boxes are empty; without offsets the boxes are the proposals.
    del model.bbox_head.loc
    with model.bbox_head.init_scope():
        model.bbox_head.loc = L.Linear((3 + 1) * 4, initialW=0)
    masks, labels, scores = model.predict(images)
    assert all(mask.shape[1:] == (SIZE, SIZE) for mask in masks)
    truth = np.zeros((1, SIZE, SIZE), bool)
    truth[:, 5:20, 5:20] = True
    result = eval_instance_segmentation_voc(
        masks, labels, scores, [truth, truth], [np.array([0], np.int32)] * 2
    )
    assert "map" in result


def _yolo(model):
    model.use_preset("evaluate")
    _detect(model)
    x = np.stack(_images(1, model.insize)) / 255
    _differentiate(model, lambda: sum(F.mean(output**2) for output in model(x)))


def yolo_v2():
    """YOLOv2: prediction, VOC score, gradients of all parameters."""
    from chainercv.links import YOLOv2

    _yolo(YOLOv2(n_fg_class=3))


def yolo_v2_tiny():
    """YOLOv2Tiny: prediction, VOC score, gradients of all parameters."""
    from chainercv.experimental.links import YOLOv2Tiny

    _yolo(YOLOv2Tiny(n_fg_class=3))


def yolo_v3():
    """YOLOv3: prediction, VOC score, gradients of all parameters."""
    from chainercv.links import YOLOv3

    _yolo(YOLOv3(n_fg_class=3))


def _differentiate(model, loss):
    """Checks the gradients of all parameters."""
    model.cleargrads()
    with chainer.using_config("train", False):
        loss().backward()
    check_gradients(model)


def _segment(model, classes=4):
    from chainercv.evaluations import eval_semantic_segmentation
    from chainercv.links import PixelwiseSoftmaxClassifier

    images = np.stack(_images()) / 255
    rng = np.random.RandomState(1)
    labels = rng.randint(0, classes, (2, SIZE, SIZE)).astype(np.int32)
    chain = PixelwiseSoftmaxClassifier(model)
    train(chain, lambda: chain(images, labels))
    predicted = model.predict(_images())
    assert all(label.shape == (SIZE, SIZE) for label in predicted)
    result = eval_semantic_segmentation(predicted, labels)
    assert 0 <= result["miou"] <= 1
    check_npz(model)


def segnet_basic():
    """SegNetBasic: training steps, prediction, mean IoU, npz."""
    from chainercv.links import SegNetBasic

    _segment(SegNetBasic(n_class=4))


def segmentation_trainer():
    """SegNetBasic: a Trainer with SemanticSegmentationEvaluator, a snapshot and a log."""
    from chainercv.extensions import SemanticSegmentationEvaluator
    from chainercv.links import PixelwiseSoftmaxClassifier, SegNetBasic

    rng = np.random.RandomState(1)
    labels = [rng.randint(0, 4, (SIZE, SIZE)).astype(np.int32) for _ in range(2)]
    data = chainer.datasets.TupleDataset(_images(), labels)
    chain = PixelwiseSoftmaxClassifier(SegNetBasic(n_class=4))
    optimizer = chainer.optimizers.MomentumSGD(lr=0.01).setup(chain)
    updater = chainer.training.StandardUpdater(chainer.iterators.SerialIterator(data, 2), optimizer)
    with tempfile.TemporaryDirectory() as folder:
        trainer = chainer.training.Trainer(updater, (2, "iteration"), out=folder)
        once = chainer.iterators.SerialIterator(data, 1, repeat=False, shuffle=False)
        trainer.extend(
            SemanticSegmentationEvaluator(once, chain.predictor, list("abcd")),
            trigger=(1, "iteration"),
        )
        trainer.extend(chainer.training.extensions.LogReport(trigger=(1, "iteration")))
        trainer.extend(chainer.training.extensions.snapshot(), trigger=(2, "iteration"))
        trainer.run()
        log = trainer.get_extension("LogReport").log
        assert "validation/main/miou" in log[-1] and "main/loss" in log[-1]
        assert os.path.exists(os.path.join(folder, "snapshot_iter_2"))


def deeplab_v3_plus():
    """DeepLabV3plusXception65: prediction, and the gradients of a loss."""
    from chainercv.links import DeepLabV3plusXception65

    model = DeepLabV3plusXception65(n_class=4, min_input_size=(SIZE, SIZE))
    assert model.predict(_images(1))[0].shape == (SIZE, SIZE)
    x = np.stack(_images(1)) / 127 - 1
    _differentiate(model, lambda: F.mean(model(x) ** 2))


def pspnet():
    """PSPNetResNet50: prediction, and the gradients of a loss."""
    from chainercv.experimental.links import PSPNetResNet50

    model = PSPNetResNet50(n_class=4, input_size=(128, 128))
    assert model.predict(_images(1, 128))[0].shape == (128, 128)
    x = np.stack(_images(1, 128)) / 127 - 1
    _differentiate(model, lambda: F.mean(model(x) ** 2))


def fcis_resnet101():
    """FCISResNet101: prediction of masks, and a training step of the whole chain."""
    from chainercv.experimental.links import FCISResNet101, FCISTrainChain

    model = FCISResNet101(n_fg_class=3, min_size=128, max_size=128, anchor_scales=(2, 4))
    masks, _, scores = model.predict(_images(1, 128))
    assert len(masks[0]) == len(scores[0])
    # The head is applied twice in prediction, once in training.
    model = FCISResNet101(
        n_fg_class=3, min_size=128, max_size=128, anchor_scales=(2, 4), iter2=False
    )
    chain = FCISTrainChain(model)
    mask = np.zeros((2, 128, 128), bool)
    box, label = _boxes(128)
    for m, b in zip(mask, box.astype(int)):
        m[b[0] : b[2], b[1] : b[3]] = True

    def loss():
        return chain(np.stack(_images(1, 128)), mask[None], label[None], box[None], np.array([1.0]))

    step(chain, loss)


def roi_functions():
    """Position-sensitive ROI functions: forward and gradients."""
    import chainercv.functions as CF

    x = chainer.Variable(np.random.RandomState(0).randn(1, 18, 12, 12).astype(np.float32))
    rois = np.array([[0, 0, 40, 40], [8, 4, 60, 60]], np.float32)
    index = np.zeros(2, np.int32)
    # ROI functions on positions: 2 channels and 3 x 3 bins need 18 input channels.
    for function, options in (
        (CF.ps_roi_average_pooling_2d, {}),
        (CF.ps_roi_max_pooling_2d, {}),
        (CF.ps_roi_average_align_2d, {"sampling_ratio": 2}),
        (CF.ps_roi_max_align_2d, {"sampling_ratio": 2}),
    ):
        x.cleargrad()
        y = function(x, rois, index, (2, 3, 3), 1 / 5, 3, **options)
        assert y.shape == (2, 2, 3, 3)
        F.sum(y).backward()
        assert np.abs(as_array(x.grad)).max() > 0


def transforms_and_images():
    """Transforms of images, boxes, points and masks; reading and writing images; NMS, IoU."""
    from chainercv import transforms, utils

    image = _images(1)[0]
    box, _ = _boxes()
    for function in (
        transforms.random_flip,
        lambda i: transforms.random_crop(i, (32, 32)),
        lambda i: transforms.resize(i, (40, 50)),
        lambda i: transforms.center_crop(i, (32, 32)),
        lambda i: transforms.rotate(i, 30),
        lambda i: transforms.random_rotate(i),
        lambda i: transforms.pca_lighting(i, 0.1),
        lambda i: transforms.random_sized_crop(i),
        lambda i: transforms.ten_crop(i, (32, 32)),
        lambda i: transforms.random_expand(i),
        lambda i: transforms.resize_contain(i, (80, 90)),
        lambda i: transforms.scale(i, 50),
    ):
        assert function(image).dtype == np.float32
    transforms.resize_bbox(box, (64, 64), (32, 32))
    transforms.flip_bbox(box, (64, 64), x_flip=True)
    transforms.crop_bbox(box, slice(0, 32), slice(0, 32))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "image.png")
        utils.write_image(image, path)
        assert np.abs(utils.read_image(path) - image).max() <= 1
    assert utils.non_maximum_suppression(box, 0.5).tolist() == [0, 1]
    assert utils.bbox_iou(box, box).diagonal().tolist() == [1, 1]
    dataset = utils.generate_random_bbox(5, (64, 64), 8, 32)
    assert dataset.shape == (5, 4)


def datasets():
    """Datasets: slices, concatenation and transforms; directories of images and labels."""
    from chainercv.chainer_experimental.datasets.sliceable import (
        ConcatenatedDataset,
        TransformDataset,
        TupleDataset,
    )
    from chainercv.datasets import (
        DirectoryParsingLabelDataset,
        MixUpSoftLabelDataset,
        SiameseDataset,
    )
    from chainercv.utils import write_image

    numbers = TupleDataset(("a", np.arange(10)), ("b", np.arange(10) * 2))
    assert numbers.slice[2:4, "b"][0] == 4
    both = ConcatenatedDataset(numbers, numbers)
    assert len(both) == 20
    doubled = TransformDataset(both, ("a", "c"), lambda example: (example[0], example[1] + 1))
    assert doubled[11] == (1, 3)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cat", "dog"):
            os.mkdir(os.path.join(folder, name))
            write_image(_images(1)[0], os.path.join(folder, name, "0.png"))
        labels = DirectoryParsingLabelDataset(folder)
        image, label = labels[1]
        assert image.shape == (3, SIZE, SIZE) and label == 1
        pairs = SiameseDataset(labels, labels)
        assert len(pairs[0]) == 4
        mixed = MixUpSoftLabelDataset(pairs, 2)
        assert mixed[0][1].shape == (2,)


def visualizations():
    """Images, boxes and masks drawn with Matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from chainercv import visualizations

    image = _images(1)[0]
    box, label = _boxes()
    visualizations.vis_image(image)
    visualizations.vis_bbox(image, box, label, np.array([0.5, 0.2]), ["a", "b", "c"])
    mask = np.zeros((2, SIZE, SIZE), bool)
    mask[:, 5:30, 5:30] = True
    visualizations.vis_instance_segmentation(image, mask, label)
    visualizations.vis_semantic_segmentation(
        image, np.zeros((SIZE, SIZE), np.int32), label_names=["a", "b"]
    )


def recipe():
    """The program of `docs/recipes/detection.md`, and what the page says that it prints."""
    run_recipe("detection")
