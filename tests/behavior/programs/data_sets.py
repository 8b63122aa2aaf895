"""Converters, tabular and other datasets, splits, files of datasets."""

import warnings, sys, os, copy, pickle, tempfile
import numpy as np
import chainer, chainer.functions as F, chainer.links as L

import _cases

np.set_printoptions(precision=4, suppress=True)

#: Cases in which this release does something else on purpose.
SKIPPED = ["CE pad none", "cd", "mixin", "mixin bool", "slice j", "todev dic"]

case = _cases.printer(SKIPPED)

import io, zipfile, threading, time
from chainer import dataset as ds, datasets as DS, iterators as It, serializers as S
from chainer.dataset import tabular, convert

f = lambda *s: np.random.RandomState(1).randn(*s).astype("f")
CE = ds.concat_examples
# converters
case("conv base", lambda: ds.Converter()([1], None))
case("conv noncall", lambda: ds.converter()(3))


def c1():
    r = []

    @ds.converter()
    def g(b, d=None, *a, **k):
        r.append((b, type(d).__name__, a, sorted(k)))

    g(1)
    g(1, -1)
    g(1, device="@numpy")
    g(1, None, 0)
    g(1, -1, x=3)
    return r, isinstance(g, ds.Converter)


case("conv calls", c1)
case("CE pickle", lambda: pickle.loads(pickle.dumps(CE))([1, 2]))
case("CE isinst", lambda: callable(CE))
for n, b in dict(
    ints=[1, 2],
    floats=[1.0, 2.0],
    bools=[True, False],
    lists=[[1, 2], [3, 4]],
    arrs=[f(2), f(2)],
    tup=[(f(2), 1), (f(2), 2)],
    dic=[{"a": 1, "b": f(1)}, {"a": 2, "b": f(1)}],
    mixed=[np.float32(1), np.float64(2)],
    arrmix=[np.zeros(2, "f"), np.zeros(2, "d")],
    empty=[],
    listex=[[f(2), f(2)], [f(2), f(2)]],
    dif=[f(2), f(3)],
    nested=[((1, 2), 3), ((3, 4), 5)],
    zerod=[np.array(1), np.array(2)],
    none=[None, None],
).items():
    case("CE " + n, lambda: CE(b))
    case("CE pad " + n, lambda: CE(b, padding=0))
    case("CE dev " + n, lambda: CE(b, device=-1))
    case("CE devs " + n, lambda: CE(b, "@numpy"))
case("CE padt", lambda: CE([(f(2), f(3)), (f(3), f(1))], padding=(0, -1)))
case("CE padd", lambda: CE([{"a": f(2)}, {"a": f(3)}], padding={"a": 9}))
case("CE padn", lambda: CE([(f(2), f(3)), (f(2), f(1))], padding=(None, 0)))
case("CE kw", lambda: CE(batch=[1], device=None, padding=None))
case("CE 2d pad", lambda: CE([f(2, 1), f(1, 3)], padding=7))
for n, x in dict(
    none=None,
    arr=f(2),
    npscalar=np.float32(1),
    tup=(f(1), None),
    lst=[f(1), f(1)],
    dic={"a": f(1)},
    num=3,
    obj="s",
).items():
    case("todev " + n, lambda: ds.to_device(-1, x))
    case("todev None " + n, lambda: ds.to_device(None, x) is x)
case(
    "todev same", lambda: (lambda a: (lambda r: r[0] is r[1])(ds.to_device("@numpy", (a, a))))(f(2))
)
case(
    "async",
    lambda: (
        convert.ConcatWithAsyncTransfer()([f(2), f(2)]),
        convert.ConcatWithAsyncTransfer()([(f(2), 1)], None),
    ),
)
case("async empty", lambda: convert.ConcatWithAsyncTransfer()([]))
# tabular
T = tabular.from_data
d = T((("a", np.arange(4)), ("b", [10, 11, 12, 13])))


def info(x):
    return (
        type(x).__name__[:0],
        len(x),
        x.keys if all(not k.startswith("_") for k in x.keys) else len(x.keys),
        x.mode.__name__ if x.mode else None,
    )


case(
    "tb",
    lambda: (
        info(d),
        d[0],
        d[1:3],
        d[[0, 2]],
        d[np.array([1, 0])],
        list(d),
        d.fetch(),
        d.convert(d.fetch()),
        d.asdict()[1],
        d.asdict().fetch(),
        d.astuple()[0],
        d[-1],
    ),
)
case("tb oob", lambda: d[9])
for n, s in dict(
    a=(slice(None, None, -1), "b"),
    b=[3, 1],
    c=slice(1, None),
    d=[True, False, False, True],
    e=(slice(None), 0),
    f=(slice(None), ("b", "a", "a")),
    g=(slice(None), ()),
    h=(slice(None), -1),
    i=([-1, 0], ("a",)),
    j=[],
    k=np.array([True] * 4),
    l=range(2),
    m=(slice(None), (1, 0)),
).items():
    case(
        "slice " + n,
        lambda: (
            info(d.slice[s]),
            d.slice[s].fetch(),
            len(d.slice[s]) and d.slice[s][0],
            d.slice[s].convert(d.slice[s].fetch()),
        ),
    )
for n, s in dict(
    int=3,
    none=None,
    gen=(i for i in [1]),
    str="a",
    mask=[True],
    oob=[7],
    oobn=[-7],
    col=(slice(None), 7),
    cols=(slice(None), "q"),
    lst=(slice(None), ["a"]),
    tri=(slice(None), 0, 0),
    mixed=[True, 2],
).items():
    case("slice bad " + n, lambda: d.slice[s].fetch())
case(
    "slice slice",
    lambda: (
        d.slice[1:].slice[::2].fetch(),
        d.slice[[3, 1, 0]].slice[1:].fetch(),
        d.slice[::2].slice[[1, 0], "b"].fetch(),
    ),
)


class Src(ds.TabularDataset):
    def __init__(s, n=10):
        s.n = n
        s.log = []

    def __len__(s):
        return s.n

    keys = ("x", "y", "z")
    mode = tuple

    def get_examples(s, i, k):
        s.log.append((i, k))
        idx = list(range(s.n))[i] if isinstance(i, slice) else (range(s.n) if i is None else i)
        cols = ([10 * j for j in idx], np.array([j for j in idx]), [str(j) for j in idx])
        return cols if k is None else tuple(cols[q] for q in k)


def rec(fn):
    def g():
        a, b = Src(10), Src(5)
        r = fn(a, b)
        return r, a.log, b.log

    return g


case("src get", rec(lambda a, b: a[3]))
case("src fetch", rec(lambda a, b: a.fetch()[1]))
case("src slice", rec(lambda a, b: a.slice[1:3].fetch()))
case("src slice idx", rec(lambda a, b: a.slice[[2, 1], "z"].fetch()))
case("src slice[:]", rec(lambda a, b: a.slice[:].fetch()[0]))
case("concat", rec(lambda a, b: a.concat(b).fetch()[0]))
case("concat get", rec(lambda a, b: a.concat(b)[12]))
case("concat sl", rec(lambda a, b: a.concat(b).slice[13:6:-2].fetch()))
case("concat sl2", rec(lambda a, b: a.concat(b).slice[1:3].fetch()))
case("concat idx", rec(lambda a, b: a.concat(b).slice[[12, 1, 12, 0], ("y", "x")].fetch()))
case("concat none", rec(lambda a, b: a.concat(b).slice[[]].fetch()))
case("concat keys", rec(lambda a, b: a.concat(d)))
case("concat3", rec(lambda a, b: (len(a.concat(b, a)), a.concat(b).slice[8:12].fetch())))
case("concat mode", lambda: info(d.asdict().concat(d)))
e = T((("p", [1, 2, 3, 4]),))
case(
    "join",
    lambda: (
        info(d.join(e)),
        d.join(e)[0],
        d.join(e).fetch(),
        d.asdict().join(e)[1],
        d.join(e).slice[:, "p"].fetch(),
    ),
)
case("join dup", lambda: d.join(d))
case("join len", lambda: d.join(T(("q", [1]))))
case("join none", lambda: info(T(("q", [1, 2])).join(T(("r", [1, 2])))))


def Ren(a, b):
    class R(tabular.DelegateDataset):
        keys = ("u", "v", "w")

    return R(b)


case(
    "join cols",
    rec(lambda a, b: a.slice[:5].join(Ren(a, b)).slice[:2, ("w", "x", "w", "u")].fetch()),
)
case(
    "tf tuple",
    lambda: (lambda t: (info(t), t[0], t.fetch()))(
        d.transform(("s", "t"), lambda a, b: (a + b, a - b))
    ),
)
case(
    "tf dict",
    lambda: (lambda t: (info(t), t[0], t.fetch()))(
        d.transform(("s", "t"), lambda a, b: {"s": a, "t": b})
    ),
)
case("tf one", lambda: (lambda t: (info(t), t[0], t.fetch()))(d.transform("s", lambda a, b: a * b)))
case("tf kw", lambda: d.asdict().transform("s", lambda a, b: a * b).fetch())
case("tf single", lambda: d.slice[:, "a"].transform("q", lambda v: v + 1)[1])
case("tf change", lambda: d.transform(("s",), lambda a, b: (a,) if a < 1 else a).fetch())
case("tf extra", lambda: d.transform(("s",), lambda a, b: (a, b, a)).fetch())
case("tf missing", lambda: d.transform(("s", "t"), lambda a, b: (a,)).fetch())
case("tf missingk", lambda: d.transform(("s", "t"), lambda a, b: {"s": 1}).fetch())
case(
    "tf mode calls",
    rec(
        lambda a, b: (lambda t: (t.mode.__name__, t.mode.__name__, t[2]))(
            a.transform(("q",), lambda x, y, z: (x,))
        )
    ),
)
case(
    "tf col",
    rec(lambda a, b: a.transform(("q", "r"), lambda x, y, z: (x, y)).slice[:2, "r"].fetch()),
)
case(
    "tb tuple",
    lambda: (lambda t: (info(t), t[0], t.fetch()))(
        d.transform_batch(("s", "t"), lambda a, b: (a * 2, b))
    ),
)
case("tb one", lambda: d.transform_batch("s", lambda a, b: a).fetch())
case("tb len", lambda: d.transform_batch("s", lambda a, b: a[:2]).fetch())
case("tb dict", lambda: d.asdict().transform_batch(("s", "t"), lambda a, b: {"s": a, "t": b})[1])
case(
    "tb chg",
    lambda: (lambda t: (t[0], t[1]))(d.transform_batch("s", lambda a, b: (a,) if a[0] == 0 else a)),
)
case(
    "wc",
    lambda: (
        lambda w: (
            w.convert(w.fetch()),
            w.slice[1:].convert(w.slice[1:].fetch()),
            info(w),
            w.asdict().convert({"a": 1, "b": 2}),
        )
    )(d.with_converter(lambda a, b: ("c", a, b))),
)
case("wc one", lambda: d.slice[:, 0].with_converter(lambda x: x).convert(5))
for n, x, k in [
    ("list", [1, 2], {}),
    ("arr", np.arange(3), {}),
    ("key", ("k", [1, 2]), {}),
    ("keyc", ("k", lambda i: i * 2), {"size": 3}),
    ("keys", (("k", "l"), lambda i: (i, -i)), {"size": 3}),
    ("keysd", (("k", "l"), lambda i: {"k": i, "l": -i}), {"size": 3}),
    ("tup", ([1, 2], ("k", [3, 4])), {}),
    ("tupc", ([1, 2], ("k", lambda i: i)), {}),
    ("dict", {"a": [1, 2], ("b", "c"): lambda i: (i, i)}, {}),
    ("dict1", {"a": [1, 2]}, {}),
    ("tup1", ([1, 2],), {}),
    ("bare", lambda i: i, {"size": 2}),
    ("nosize", ("k", lambda i: i), {}),
    ("uneq", ([1, 2], [1]), {}),
    ("size", [1, 2, 3], {"size": 2}),
    ("sizec", ([1, 2, 3], ("k", lambda i: i)), {"size": 2}),
    ("tupret", ("k", lambda i: (i, 5)), {"size": 2}),
    ("dictret", ("k", lambda i: {"k": i}), {"size": 2}),
]:
    case("fd " + n, lambda: (lambda t: (info(t), t[1], t.fetch()))(T(x, **k)))
case("deleg", lambda: (lambda x: (info(x), x[0], x.dataset is d))(tabular.DelegateDataset(d)))
case("tab base", lambda: ds.TabularDataset().keys)
case("tab base2", lambda: len(ds.TabularDataset()))
case("tab it", lambda: It.SerialIterator(d, 3, shuffle=False).next())


# Mixin
class Mx(ds.DatasetMixin):
    def __len__(s):
        return 5

    def get_example(s, i):
        if i >= 5:
            raise IndexError
        return i * 10


case(
    "mixin",
    lambda: (
        Mx()[1],
        Mx()[1:3],
        Mx()[::-2],
        Mx()[[0, 4]],
        Mx()[np.array([1, 2])],
        Mx()[-1],
        Mx()[np.int64(2)],
    ),
)
case("mixin it", lambda: list(Mx()))
case("mixin base", lambda: ds.DatasetMixin().get_example(1))
case("mixin float", lambda: Mx()[1.5])
case("mixin bool", lambda: Mx()[np.array([True, False, True, False, False])])


# pickle/text
def pd():
    p = tempfile.mktemp()
    with DS.open_pickle_dataset_writer(p) as w:
        w.write({"a": 1})
        w.write([1, 2])
        w.write(f(2))
        w.flush()
    with DS.open_pickle_dataset(p) as r:
        out = (len(r), r[0], r[1:], r[-1], pickle.loads(pickle.dumps(r))[1] if 0 else 0)
    try:
        r[0]
    except ValueError:
        out += ("closed",)
    return out


case("pickle", pd)
case(
    "pickle oob",
    lambda: (lambda b: (DS.PickleDatasetWriter(b).write(1), DS.PickleDataset(b)[3]))(io.BytesIO()),
)


class NS(io.BytesIO):
    def seekable(s):
        return False


case("pickle ns", lambda: DS.PickleDataset(NS()))
p1 = tempfile.mktemp()
open(p1, "w").write("a\nb b\n\nc")
p2 = tempfile.mktemp()
open(p2, "w").write("1\n2\n3\n4\n")
p3 = tempfile.mktemp()
open(p3, "w").write("1\n")
case("text", lambda: (lambda t: (len(t), t[0], t[1:], t[3], list(t)))(DS.TextDataset(p1)))
case("text2", lambda: (lambda t: (len(t), t[0], t[-1:]))(DS.TextDataset([p1, p2])))
case("text neg", lambda: DS.TextDataset(p1)[-1])
case("text empty", lambda: DS.TextDataset([]))
case("text len", lambda: DS.TextDataset([p1, p3]))
case("text enc", lambda: DS.TextDataset([p1, p2], encoding=["utf8"]))
case("text filter", lambda: list(DS.TextDataset(p1, filter_func=lambda l: l.strip())))
case(
    "text filter2",
    lambda: list(
        DS.TextDataset([p1, p2], encoding=["utf8", "ascii"], filter_func=lambda a, b: int(b) > 2)
    ),
)
case("text pickle", lambda: pickle.loads(pickle.dumps(DS.TextDataset(p1)))[1])
case("text close", lambda: (lambda t: (t.close(), t[0]))(DS.TextDataset(p1)))
case(
    "text with",
    lambda: (lambda t: (t.__enter__()[0], t.__exit__(None, None, None)))(DS.TextDataset(p1)),
)
# images
from PIL import Image

dd = tempfile.mkdtemp()
for i in range(2):
    Image.fromarray((np.arange(24).reshape(2, 4, 3) * (i + 1)).astype("u1")).save(
        os.path.join(dd, "%d.png" % i)
    )
Image.fromarray(np.arange(8).reshape(2, 4).astype("u1")).save(os.path.join(dd, "g.png"))
z = os.path.join(dd, "z.zip")
zz = zipfile.ZipFile(z, "w")
zz.writestr("sub/", "")
[zz.write(os.path.join(dd, "%d.png" % i), "sub/%d.png" % i) for i in range(2)]
zz.close()
lf = os.path.join(dd, "l.txt")
open(lf, "w").write("sub/0.png 3\nsub/1.png 4\n")
open(os.path.join(dd, "list.txt"), "w").write("0.png 1\n1.png 2\n")
open(os.path.join(dd, "pl.txt"), "w").write("0.png\n1.png\n")
bad = os.path.join(dd, "bad.txt")
open(bad, "w").write("sub/0.png\n")
case(
    "img",
    lambda: (lambda t: (len(t), t[0], t[1:][0].shape))(DS.ImageDataset(["0.png", "1.png"], dd)),
)
case("img list", lambda: DS.ImageDataset(os.path.join(dd, "pl.txt"), dd)[1])
case("img gray", lambda: DS.ImageDataset(["g.png"], dd)[0])
case("img dt", lambda: DS.ImageDataset(["0.png"], dd, "u1")[0].dtype)
case("lab", lambda: DS.LabeledImageDataset([("0.png", 1)], dd)[0][1])
case(
    "lab list",
    lambda: (lambda t: (len(t), t[1][1], t[1][0].dtype))(
        DS.LabeledImageDataset(os.path.join(dd, "list.txt"), dd, label_dtype="i8")
    ),
)
case(
    "zip",
    lambda: (lambda t: (len(t), t[0], t.get_example("sub/1.png").sum()))(DS.ZippedImageDataset(z)),
)
case("mzip", lambda: (lambda t: (len(t), t[3].sum()))(DS.MultiZippedImageDataset([z, z])))
case(
    "lzip",
    lambda: (lambda t: (len(t), t[1][1], t[1][0].shape))(DS.LabeledZippedImageDataset(z, lf)),
)
case("lzip bad", lambda: DS.LabeledZippedImageDataset(z, bad))
case("zip pickle", lambda: pickle.loads(pickle.dumps(DS.ZippedImageDataset(z)))[0].shape)
with chainer.using_config("dtype", chainer.mixed16):
    case(
        "img mixed",
        lambda: (DS.ImageDataset(["0.png"], dd)[0].dtype, DS.ZippedImageDataset(z)[0].dtype),
    )
# splitting
L_ = list(range(7))
case("split", lambda: [list(x) for x in DS.split_dataset(L_, 3)])
case("split order", lambda: [x[:] for x in DS.split_dataset(L_, 3, [6, 5, 4, 3, 2, 1, 0])])
for a in (7, 8, -1, "x", 2.5, 0):
    case("split %r" % (a,), lambda: [len(x) for x in DS.split_dataset(L_, a)])
case("split rnd", lambda: [x[:] for x in DS.split_dataset_random(L_, 3, seed=1)])
case("split n", lambda: [x[:] for x in DS.split_dataset_n(L_, 3)])
case("split nr", lambda: [x[:] for x in DS.split_dataset_n_random(L_, 3, seed=1)])
case("cv", lambda: [(a[:], b[:]) for a, b in DS.get_cross_validation_datasets(L_, 3)])
case(
    "cvr",
    lambda: [
        (a[:], b[:]) for a, b in DS.get_cross_validation_datasets_random(L_, n_folds=2, seed=3)
    ],
)
case("cv old", lambda: len(DS.get_cross_validation_datasets(L_, n_fold=2)))
case(
    "cvo",
    lambda: [
        (a[:], b[:])
        for a, b in DS.get_cross_validation_datasets(L_, n_folds=2, order=[6, 5, 4, 3, 2, 1, 0])
    ],
)
case("sub", lambda: (lambda s: (len(s), s[0], s[-1], s[1:]))(DS.SubDataset(L_, 1, 5)))
case("sub oob", lambda: DS.SubDataset(L_, 1, 5)[4])
case("sub bad", lambda: DS.SubDataset(L_, 1, 9))
case("sub order", lambda: DS.SubDataset(L_, 0, 2, [3, 4, 5, 6, 0, 1, 2])[:])
case("sub orderlen", lambda: DS.SubDataset(L_, 0, 2, [3]))
case("conc", lambda: (lambda c: (len(c), c[0], c[8], c[5:9]))(DS.ConcatenatedDataset(L_, [9, 8])))
case("conc oob", lambda: DS.ConcatenatedDataset(L_, [9])[8])
case("tup", lambda: (lambda t: (t[0], t[1:3], len(t)))(DS.TupleDataset(L_, f(7))))
case("tup bad", lambda: DS.TupleDataset(L_, [1]))
case("tup none", lambda: DS.TupleDataset())
case("dictd", lambda: (lambda t: (t[0], t[1:3], len(t)))(DS.DictDataset(a=L_, b=f(7))))
case("dict bad", lambda: DS.DictDataset(a=L_, b=[1]))
case("dict none", lambda: DS.DictDataset())
case("tfd", lambda: (lambda t: (t[0], t[1:3], len(t)))(DS.TransformDataset(L_, lambda x: -x)))


# cache
def cache():
    r = tempfile.mkdtemp()
    old = ds.get_dataset_root()
    ds.set_dataset_root(r)
    n = []

    def creator(p):
        n.append(os.path.basename(p))
        open(p, "w").write("hi")
        return "made"

    try:
        a = ds.cache_or_load_file(os.path.join(r, "x.npz"), creator, lambda p: open(p).read())
        b = ds.cache_or_load_file(os.path.join(r, "x.npz"), creator, lambda p: open(p).read())
        dr = ds.get_dataset_directory("a/b")
        return (
            a,
            b,
            n,
            os.path.relpath(dr, r),
            os.path.isdir(dr),
            os.path.isdir(ds.get_dataset_directory("q", create_directory=False)),
        )
    finally:
        ds.set_dataset_root(old)


case("cache", cache)
case("fm", lambda: (DS.get_fashion_mnist_labels(), DS.get_kuzushiji_mnist_labels()))


def cd():
    src = tempfile.mktemp()
    open(src, "w").write("x")
    r = tempfile.mkdtemp()
    old = ds.get_dataset_root()
    ds.set_dataset_root(r)
    try:
        import hashlib

        p = ds.cached_download("file://" + src)
        return (
            open(p).read(),
            os.path.relpath(p, r)
            == os.path.join("_dl_cache", hashlib.md5(("file://" + src).encode()).hexdigest()),
            sorted(os.listdir(os.path.join(r, "_dl_cache"))).__len__(),
        )
    finally:
        ds.set_dataset_root(old)


import contextlib


def q():
    with contextlib.redirect_stdout(io.StringIO()):
        return cd()


case("cd", q)
