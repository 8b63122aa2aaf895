"""Files that one release writes and another one reads: links, optimizers, iterators, dictionaries.

The module runs in release 7.8.1, too, hence on Python 3.7. An object is described by its number
alone, so that both releases make the same one.
"""

import json
import os
import random
import sys
import warnings

import numpy as np

import chainer
import chainer.links as L

try:
    import h5py  # noqa: F401

    _FORMATS = ("npz", "h5", "npz-plain")
except ImportError:
    _FORMATS = ("npz", "npz-plain")


def _array(rng, dtype=None):
    shape = tuple(rng.randrange(0, 4) for _ in range(rng.randrange(0, 4)))
    dtype = dtype or rng.choice(["e", "f", "d", "i", "q", "?"])
    random_state = np.random.RandomState(rng.randrange(2**31))
    return (
        (random_state.randn(*shape) * 5).astype(dtype) if shape else np.array(rng.random(), dtype)
    )


def _link(rng, depth=0):
    """Returns a random tree of links with persistent values."""
    kind = rng.randrange(7 if depth < 2 else 4)
    if kind == 0:
        return L.Linear(rng.choice([None, 3]), rng.randrange(1, 4), nobias=rng.random() < 0.3)
    if kind == 1:
        return L.BatchNormalization(rng.randrange(1, 4), use_gamma=rng.random() < 0.5)
    if kind == 2:
        return L.LSTM(2, 3)
    if kind == 3:
        link = chainer.Link()
        with link.init_scope():
            link.p = chainer.Parameter(_array(rng, rng.choice("efd")))
        link.add_persistent("value", rng.choice([1, 2.5, True, "text", None]))
        link.add_persistent("array", _array(rng))
        return link
    if kind == 4:
        return chainer.ChainList(*[_link(rng, depth + 1) for _ in range(rng.randrange(0, 3))])
    if kind == 5:
        links = [_link(rng, depth + 1) for _ in range(rng.randrange(1, 3))]
        return chainer.Sequential(*links)
    chain = chainer.Chain()
    with chain.init_scope():
        for i in range(rng.randrange(1, 4)):
            setattr(chain, "c%d" % i, _link(rng, depth + 1))
    return chain


def make(number):
    """Returns a random object that can be saved.

    Args:
        number (int): Its number.
    """
    rng = random.Random(number)
    np.random.seed(number)
    kind = rng.randrange(4)
    if kind <= 1:
        return _link(rng)
    if kind == 2:
        model = L.Classifier(L.Linear(3, 2))
        name = rng.choice(
            [
                "SGD",
                "MomentumSGD",
                "Adam",
                "AdaGrad",
                "AdaDelta",
                "RMSprop",
                "SMORMS3",
                "NesterovAG",
            ]
            + ["RMSpropGraves", "AMSGrad", "AdaBound", "CorrectedMomentumSGD", "MSVAG"]
        )
        optimizer = getattr(chainer.optimizers, name)().setup(model)
        for _ in range(rng.randrange(0, 3)):
            model.cleargrads()
            for param in model.params():
                param.grad = np.random.randn(*param.shape).astype("f")
            optimizer.update()
        if rng.random() < 0.5:
            optimizer.new_epoch()
        return optimizer
    make_iterator = rng.choice(
        [chainer.iterators.SerialIterator, chainer.iterators.MultithreadIterator]
    )
    iterator = make_iterator(
        list(range(rng.randrange(1, 9))), rng.randrange(1, 5), shuffle=rng.choice([None, False])
    )
    for _ in range(rng.randrange(0, 6)):
        iterator.next()
    if hasattr(iterator, "finalize"):
        iterator.finalize()
    return iterator


def _format(number):
    return _FORMATS[number % len(_FORMATS)]


def _save(path, number, obj):
    kind = _format(number)
    if kind == "h5":
        chainer.serializers.save_hdf5(path, obj)
    else:
        chainer.serializers.save_npz(path, obj, compression=kind == "npz")


def _load(path, number, obj):
    load = (
        chainer.serializers.load_hdf5 if _format(number) == "h5" else chainer.serializers.load_npz
    )
    load(path, obj)


def _state(obj):
    serializer = chainer.serializers.DictionarySerializer()
    obj.serialize(serializer)
    # The seed of the examples and the orders drawn ahead are in files of release 8 alone.
    return {
        name: [str(np.asarray(value).dtype), np.asarray(value).tolist()]
        for name, value in sorted(serializer.target.items())
        if not name.endswith(("random_key", "orders_ahead"))
    }


def _disturbed(number):
    """Returns the object of a number with other values: zeros and a fresh state."""
    obj = make(number)
    if isinstance(obj, chainer.Link):
        for param in obj.params():
            if param.array is not None:
                param.array[...] = 0
        for link in obj.links():
            for name in link._persistent:
                value = getattr(link, name)
                if isinstance(value, np.ndarray):
                    value[...] = 0
    elif isinstance(obj, chainer.Optimizer):
        obj.t = 0
        for param in obj.target.params():
            param.update_rule.t = 0
            for value in (param.update_rule.state or {}).values():
                if isinstance(value, np.ndarray):
                    value[...] = 0
    elif hasattr(obj, "reset"):
        obj.reset()
    return obj


def main(arguments):
    """Writes objects, or reads them and prints their states as JSON, one a line.

    Args:
        arguments (list of str): ``write`` or ``read``, a folder, the number of the first object,
            and the number after the last one.
    """
    warnings.simplefilter("ignore")
    action, folder, first, last = arguments
    for number in range(int(first), int(last)):
        path = os.path.join(folder, str(number))
        if action == "write":
            obj = make(number)
            try:
                _save(path, number, obj)
            except Exception as error:  # release 7.8.1 saves no text as HDF5
                print(json.dumps({"error": type(error).__name__}))
                continue
            print(json.dumps(_state(obj), sort_keys=True))
            continue
        try:
            obj = _disturbed(number)
            _load(path, number, obj)
            print(json.dumps(_state(obj), sort_keys=True))
        except Exception as error:
            print(json.dumps({"error": type(error).__name__, "text": str(error)[:200]}))
    sys.stdout.flush()
