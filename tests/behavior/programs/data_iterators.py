"""Iterators: order, positions, copies, files; serializers."""

import warnings, sys, os, copy, pickle, tempfile
import numpy as np
import chainer, chainer.functions as F, chainer.links as L

import _cases

np.set_printoptions(precision=4, suppress=True)

#: Cases in which this release does something else on purpose.
SKIPPED = [
    "nser float64 array([0., 0., 0.])",
    "P old",
    "P ser",
    "S ser",
    "T old",
    "T ser",
    "T ser0",
    "custom",
    "dser lst",
    "dser var",
    "h5 s",
    "load path nos",
    "mp slow",
    "nser float64 1.0",
    "nser float64 5",
    "nser float64 float32(1.0)",
    "nser int64 1",
    "nser int64 int32(1)",
]

case = _cases.printer(SKIPPED)

from chainer import iterators as It, serializers as S, dataset as ds

kinds = dict(
    S=lambda d, b, **k: It.SerialIterator(d, b, **k),
    T=lambda d, b, **k: It.MultithreadIterator(d, b, n_threads=2, **k),
    P=lambda d, b, **k: It.MultiprocessIterator(d, b, n_processes=1, **k),
)


def trace(it, n=7):
    r = []
    try:
        for _ in range(n):
            b = it.next()
            r.append(
                (
                    list(map(int, b)),
                    it.epoch,
                    it.is_new_epoch,
                    it.current_position,
                    round(it.epoch_detail, 4),
                    None
                    if it.previous_epoch_detail is None
                    else round(it.previous_epoch_detail, 4),
                )
            )
    except StopIteration:
        r.append("stop")
        r.append((it.epoch, it.is_new_epoch, it.epoch_detail))
    it.finalize()
    return r


class SR(It.OrderSampler):
    def __init__(s):
        s.log = []

    def __call__(s, o, p):
        s.log.append((o.tolist(), int(p)))
        return np.roll(o, 1)


for n, mk in kinds.items():
    case(n + " seq", lambda: trace(mk(list(range(5)), 2, shuffle=False)))
    case(n + " norep", lambda: trace(mk(list(range(5)), 2, shuffle=False, repeat=False)))
    case(n + " big", lambda: trace(mk(list(range(2)), 5, shuffle=False), 3))
    case(n + " exact", lambda: trace(mk(list(range(4)), 2, shuffle=False, repeat=False)))
    case(n + " shuffle first", lambda: trace(mk(list(range(6)), 3), 2))
    case(n + " shuffle true", lambda: trace(mk(list(range(6)), 3, shuffle=True), 2))
    case(
        n + " sampler",
        lambda: (lambda s: (trace(mk(list(range(5)), 2, order_sampler=s)), s.log))(SR()),
    ) if n != "P" else 0
    case(
        n + " shufsampler",
        lambda: trace(
            mk(list(range(5)), 2, order_sampler=It.ShuffleOrderSampler(np.random.RandomState(3)))
        ),
    )
    case(n + " both", lambda: mk([1], 1, shuffle=True, order_sampler=SR()) and 1) if n != "P" else 0
    case(n + " bothF", lambda: mk([1], 1, shuffle=False, order_sampler=SR()))
    case(
        n + " subset",
        lambda: (
            trace(mk(list(range(9)), 2, order_sampler=lambda o, p: np.array([7, 3, 5])), 4)
            if n != "P"
            else 0
        ),
    )
    case(
        n + " badlen",
        lambda: (
            trace(
                mk(list(range(3)), 2, order_sampler=lambda o, p: np.arange(3 if p == 0 else 2)), 4
            )
            if n != "P"
            else 0
        ),
    )

    def attrs():
        it = mk(list(range(5)), 2)
        r = [
            it.repeat,
            it.batch_size,
            len(it.dataset),
            it.epoch,
            it.current_position,
            it.is_new_epoch,
            it.epoch_detail,
            it.previous_epoch_detail,
        ]
        it.finalize()
        it.finalize()
        return r

    case(n + " attrs", attrs)

    def reset():
        it = mk(list(range(5)), 2, shuffle=False)
        it.next()
        it.next()
        it.reset()
        r = (list(map(int, it.next())), it.epoch, it.current_position)
        it.finalize()
        return r

    case(n + " reset", reset)

    def ctx():
        with mk([1, 2], 1, shuffle=False) as it:
            return list(map(int, it.next()))

    case(n + " with", ctx)

    def ser():
        it = (
            mk(list(range(5)), 2, order_sampler=SR())
            if n != "P"
            else mk(
                list(range(5)), 2, order_sampler=It.ShuffleOrderSampler(np.random.RandomState(0))
            )
        )
        it.next()
        it.next()
        it.next()
        d = {}
        S.DictionarySerializer(d).save(it)
        it.finalize()
        k = (
            mk(list(range(5)), 2, order_sampler=SR())
            if n != "P"
            else mk(
                list(range(5)), 2, order_sampler=It.ShuffleOrderSampler(np.random.RandomState(0))
            )
        )
        S.NpzDeserializer(d).load(k)
        r = (list(map(int, k.next())), k.epoch, k.current_position, k.previous_epoch_detail)
        k.finalize()
        return {a: b.tolist() for a, b in sorted(d.items())}, r

    case(n + " ser", ser)

    def ser0():
        it = mk(list(range(5)), 2, shuffle=False)
        d = {}
        S.DictionarySerializer(d).save(it)
        it.finalize()
        return {a: b.tolist() for a, b in sorted(d.items()) if a != "random_key"}

    if n != "P":
        case(n + " ser0", ser0)

    def old():
        k = mk(list(range(5)), 2, shuffle=False)
        S.NpzDeserializer(
            {"current_position": np.array(2), "epoch": np.array(1), "is_new_epoch": np.array(False)}
        ).load(k)
        r = k.previous_epoch_detail, k.epoch_detail
        k.finalize()
        return r

    case(n + " old", old)

    def cp():
        it = mk(list(range(5)), 2, shuffle=False)
        it.next()
        k = copy.copy(it)
        r = list(map(int, k.next())), list(map(int, it.next())), list(map(int, it.next()))
        k.finalize()
        it.finalize()
        return r

    case(n + " copy", cp)

    def epoch():
        it = mk(list(range(5)), 2, shuffle=False)
        r = [list(map(int, b)) for b in __import__("itertools").islice(it, 4)]
        it.finalize()
        return r

    case(n + " for", epoch)
    case(
        n + " mixin",
        lambda: (
            trace(
                mk(
                    type(
                        "Dx",
                        (ds.DatasetMixin,),
                        {"__len__": lambda s: 3, "get_example": lambda s, i: i},
                    )(),
                    2,
                    shuffle=False,
                ),
                3,
            )
            if n != "P"
            else 0
        ),
    )

    class OnlyInt(object):
        def __len__(s):
            return 4

        def __getitem__(s, i):
            if not isinstance(i, (int, np.integer)):
                raise TypeError(type(i))
            return int(i)

    globals()["OnlyInt"] = OnlyInt
    case(n + " onlyint", lambda: trace(mk(OnlyInt(), 3, shuffle=False), 3))
    case(
        n + " tuples",
        lambda: (lambda it: (it.next(), it.finalize())[0])(
            mk([(np.arange(2.0), 1), (np.arange(2.0), 2)], 2, shuffle=False)
        ),
    )
    case(
        n + " dicts",
        lambda: (lambda it: (it.next(), it.finalize())[0])(
            mk([{"a": np.arange(2.0)}, {"a": np.arange(2.0)}], 2, shuffle=False)
        ),
    )
case("base", lambda: ds.Iterator().next())
case(
    "base2",
    lambda: (ds.Iterator().finalize(), ds.Iterator().serialize(3), iter(ds.Iterator()) is None),
)
case("order base", lambda: It.OrderSampler()(np.arange(3), 0))
case("shuf", lambda: It.ShuffleOrderSampler(np.random.RandomState(0))(np.array([9, 8, 7, 6]), 0))
fin = []


class It2(ds.Iterator):
    def finalize(s):
        fin.append(1)


def dl():
    fin[:] = []
    i = It2()
    del i
    with It2():
        pass
    return len(fin)


case("del", dl)


def mpattrs():
    it = It.MultiprocessIterator(
        [1, 2], 1, n_processes=2, n_prefetch=3, shared_mem=100, shuffle=False
    )
    r = [it.n_processes, it.n_prefetch, it.shared_mem, it.dataset_timeout, it.repeat]
    it.finalize()
    return r


case("mp attrs", mpattrs)


def slow():
    class Sl(object):
        def __len__(s):
            return 2

        def __getitem__(s, i):
            import time

            time.sleep(1.2)
            return i

    globals()["Sl"] = Sl
    it = It.MultiprocessIterator(Sl(), 1, n_processes=1, dataset_timeout=0.5, shuffle=False)
    r = it.next()
    it.finalize()
    return r


case("mp slow", slow)
case("mp warn", lambda: It.MultiprocessIterator.TimeoutWarning.__mro__[1].__name__)


def mpp():
    it = It.MultiprocessIterator(
        list(range(5)),
        2,
        n_processes=1,
        order_sampler=It.ShuffleOrderSampler(np.random.RandomState(0)),
    )
    it.next()
    it2 = pickle.loads(pickle.dumps(it))
    r = it2.current_position, it2.epoch
    it.finalize()
    it2.finalize()
    return r


case("mp pickle", mpp)


def shm():
    it = It.MultiprocessIterator(
        [(np.zeros(100, "f"), 1)] * 4, 2, n_processes=1, shared_mem=8, shuffle=False
    )
    r = it.next()[0][0].shape
    it.finalize()
    return r


case("mp shm", shm)


class Pipe(object):
    batch_size = 2

    def build(s):
        s.n = 0

    def epoch_size(s):
        return {"r": 3}

    def run(s):
        s.n += 1
        return [s.n]


def dali(**k):
    it = It.DaliIterator(Pipe(), **k)
    r = []
    try:
        for _ in range(4):
            r.append(
                (
                    it.next(),
                    it.current_position,
                    it.epoch,
                    it.is_new_epoch,
                    it.epoch_detail,
                    it.previous_epoch_detail,
                    it.epoch_size,
                )
            )
    except StopIteration:
        r.append("stop")
    d = {}
    S.DictionarySerializer(d).save(it)
    return r, {a: b.tolist() for a, b in sorted(d.items())}


case("dali", dali)
case("dali norep", lambda: dali(repeat=False))
# serializers
import io


class Own(S.__dict__.get("Serializer", chainer.serializer.Serializer)):
    pass


def ss(v):
    d = {}
    S.DictionarySerializer(d)("k", v)
    return d["k"]


for n, v in dict(
    none=None,
    int=3,
    flt=2.5,
    s="x",
    arr=np.arange(3),
    b=True,
    lst=[1, 2],
    dic={},
    var=chainer.Variable(np.zeros(2)),
    cplx=1j,
    obj=object(),
    np32=np.float32(2),
    bytes=b"x",
).items():
    case("dser " + n, lambda: ss(v))
for sv, v in [
    (np.array(3), 5),
    (np.array(3), 5.0),
    (np.array(3.5), 5.0),
    (np.array(3.5), 5),
    (np.array(3), True),
    (np.array(True), 5),
    (np.array("s"), "t"),
    (np.array(1j), 1.0),
    (np.array(3, "i8"), np.int32(1)),
    (np.array(3.0, "d"), np.float32(1)),
    (np.arange(3.0), None),
    (np.arange(3.0), np.zeros(3, "f")),
    (np.arange(3), np.zeros(3, "f")),
    (np.arange(3.0), np.zeros(3, "i")),
    (np.array(2.0), np.zeros(3)),
    (np.array(None), None),
    (np.array(None), np.zeros(2)),
    (np.array(None), 3),
    (np.arange(4.0), np.zeros(3)),
]:
    case(
        "nser %s %s" % (sv.dtype if sv.dtype != object else "O", repr(v).replace("np.", "")),
        lambda: S.NpzDeserializer({"k": sv})("k", v),
    )
case("nser missing", lambda: S.NpzDeserializer({})("k", 3))
case("nser nonstrict", lambda: S.NpzDeserializer({}, strict=False)("k", 3))
case("nser path", lambda: S.NpzDeserializer({"a/k": np.array(7)}, path="a/")("k", 3))
case("nser path2", lambda: S.NpzDeserializer({"a/k": np.array(7)}, "a")("k", 3))
case("nser child", lambda: S.NpzDeserializer({"a/b/k": np.array(7)})["a"]["b"]("k", 3))
case("nser child2", lambda: S.NpzDeserializer({"a/b/k": np.array(7)})["/a/"]["b"]("/k", 3))
for ig in ("a/k", ["a/k"], lambda n: n.endswith("k"), ("x", lambda n: n == "a/k"), 3, [3], None):
    case(
        "ign %s" % type(ig).__name__,
        lambda: S.NpzDeserializer({"a/k": np.array(7)}, ignore_names=ig)["a"]("k", 3),
    )
import chainer.links as L

t = tempfile.mktemp()
S.save_npz(t, chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3)))
case(
    "load ign",
    lambda: (
        lambda m: (S.load_npz(t, m, ignore_names=["0/W", lambda n: "avg" in n]), m[0].W.array)
    )(chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3))),
)
case("load path", lambda: (lambda m: (S.load_npz(t, m, path="0/"), m.W.array))(L.Linear(2, 3)))
case("load path nos", lambda: (lambda m: (S.load_npz(t, m, path="0"), m.W.array))(L.Linear(2, 3)))
case(
    "load strict",
    lambda: S.load_npz(
        t, chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3), L.Linear(3, 3))
    ),
)
case(
    "load nonstrict",
    lambda: S.load_npz(
        t, chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3), L.Linear(3, 3)), strict=False
    ),
)
case(
    "load shape", lambda: S.load_npz(t, chainer.Sequential(L.Linear(5, 3), L.BatchNormalization(3)))
)
case(
    "load file",
    lambda: S.load_npz(open(t, "rb"), chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3))),
)
case(
    "load lazy",
    lambda: (lambda m: (S.load_npz(t, m), m[0].W.shape, m[1].avg_mean))(
        chainer.Sequential(L.Linear(None, 3), L.BatchNormalization(axis=0))
    ),
)
case(
    "save dict",
    lambda: (
        lambda p: (
            S.save_npz(p, {"a": np.arange(2), "b/c": np.array(1)}),
            sorted(np.load(open(p, "rb")).keys()),
        )
    )(tempfile.mktemp()),
)
case("npz ser", lambda: {k: v.shape for k, v in sorted(S.npz.serialize(L.Linear(2, 3)).items())})
case(
    "save nocomp",
    lambda: (
        lambda p: (
            S.save_npz(p, L.Linear(2, 3), compression=False),
            sorted(np.load(open(p, "rb")).keys()),
        )
    )(tempfile.mktemp()),
)
case("save buf", lambda: (lambda b: (S.save_npz(b, L.Linear(1, 1)), b.tell() > 0))(io.BytesIO()))
case(
    "save noext",
    lambda: (lambda p: (S.save_npz(p, L.Linear(1, 1)), os.path.exists(p)))(tempfile.mktemp()),
)
import h5py


def hd(v):
    p = tempfile.mktemp()
    with h5py.File(p, "w") as h:
        s = S.HDF5Serializer(h)
        r = s("k", v)
        s["g"]["q"]("z", v)
    with h5py.File(p, "r") as h:
        x = h["k"]
        g = h["g/q/z"]
        return r if not isinstance(r, np.ndarray) else "arr", x.shape, str(x.dtype), x.compression


for n, v in dict(
    none=None, int=3, flt=2.5, arr=np.arange(30), one=np.zeros(1), b=True, dic={}, s="x"
).items():
    case("h5 " + n, lambda: hd(v))
case(
    "h5 dict",
    lambda: (
        lambda p: (
            S.save_hdf5(p, {"a": np.arange(2), "b/c": np.array(1)}),
            sorted(h5py.File(p, "r")["b"].keys()),
        )
    )(tempfile.mktemp()),
)
case(
    "h5 link",
    lambda: (
        lambda p, m: (S.save_hdf5(p, m), S.load_hdf5(p, m), sorted(h5py.File(p, "r")["0"].keys()))
    )(tempfile.mktemp(), chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3))),
)
case(
    "h5 missing",
    lambda: (
        lambda p: (S.save_hdf5(p, L.Linear(2, 3, nobias=True)), S.load_hdf5(p, L.Linear(2, 3)))
    )(tempfile.mktemp()),
)
case(
    "h5 deser",
    lambda: (
        lambda p: (
            S.save_hdf5(p, L.Linear(2, 3)),
            S.HDF5Deserializer(h5py.File(p, "r"), strict=False)["zz"]("k", None),
        )
    )(tempfile.mktemp()),
)
case(
    "h5 sub",
    lambda: (
        lambda p: (
            S.save_hdf5(p, chainer.Chain(a=L.Linear(2, 3))),
            S.HDF5Deserializer(h5py.File(p, "r")["a"]).load(L.Linear(2, 3)),
        )
    )(tempfile.mktemp()),
)


class Cs(chainer.Serializer):
    def __init__(s, out, p=""):
        s.out = out
        s.p = p

    def __getitem__(s, k):
        return Cs(s.out, s.p + k + ".")

    def __call__(s, k, v):
        s.out.append((s.p + k, type(v).__name__))
        return v


case(
    "custom",
    lambda: (
        lambda o: (Cs(o).save(chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3))), o)
    )([]),
)


class Cd(chainer.Deserializer):
    def __init__(s, src, p=""):
        s.src = src
        s.p = p

    def __getitem__(s, k):
        return Cd(s.src, s.p + k + ".")

    def __call__(s, k, v):
        w = s.src[s.p + k]
        if isinstance(v, np.ndarray):
            v[...] = w
            return v
        return w


case(
    "customd",
    lambda: (lambda l: (Cd({"a.W": np.ones((3, 2)), "a.b": np.zeros(3)}).load(l), l.a.W.array))(
        chainer.Chain(a=L.Linear(2, 3))
    ),
)
case("abstract", lambda: (hasattr(chainer, "AbstractSerializer"), chainer.Serializer()("a", 1)))
case("abstract2", lambda: chainer.Deserializer()["a"])
