"""Random programs that build trees of links, change, copy, call, train and save them.

The file runs in Python 3.7 with release 7.8.1 as well as here, and
``python -m tests.comparison --links N`` compares both. A program is a list of statements, so that
it can be printed and made smaller.
"""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np

from tests.comparison.answering import write_answers
from tests.comparison.draws import Draws
from tests.comparison.link_tools import names_of, whole_part

#: Names of attributes that programs give.
ATTRIBUTES = ["a", "b", "c", "p", "q", "l1", "W"]

#: Links without children. Inputs have three columns, so that most can follow each other.
LEAVES = [
    "L.Linear(3, 3{w})",
    "L.Linear(3{w})",
    "L.Linear(None, 3, nobias=True{w})",
    "L.Linear(3, 3{w}, initial_bias=chainer.initializers.Constant(0.5, dtype='d'))",
    "L.BatchNormalization(3)",
    "L.BatchNormalization()",
    "L.BatchNormalization(3, use_gamma=False, initial_beta=0.5)",
    "L.LayerNormalization()",
    "L.GroupNormalization(3)",
    "L.Scale(1, (3,))",
    "L.Scale(1, bias_term=True, bias_shape=(3,))",
    "L.Bias(1, (3,))",
    "L.PReLU()",
    "L.Swish((3,))",
    "L.LSTM(None, 3{lateral})",
    "L.StatefulPeepholeLSTM(3, 3)",
    "L.Parameter(A(2, 3))",
    "L.EmbedID(4, 3{w})",
    "L.Convolution2D(None, 2, 1{w})",
    "L.Maxout(None, 3, 2{w})",
    "L.Highway(3{wx})",
    "chainer.Link()",
    "chainer.Link(p=(2, 3), q=((3,), 'd'))",
    "Stateful()",
    "Stateful(dtype='d')",
    "Reporting()",
]

#: Trees of the classes of programs.
TREES = [
    "Block(3)",
    "Block(None)",
    "OldBlock()",
    "Lists(%d)",
    "Nested(None)",
    "L.Classifier(Block(None))",
    "L.MLPConvolution2D(3, (3, 3), 1{conv})",
]

#: Values of parameters, and of what else is assigned to attributes.
PARAMETERS = [
    "chainer.Parameter(A(2, 3))",
    "chainer.Parameter(0.5, (3,))",
    "chainer.Parameter(Filled(), (2, 3))",
    "chainer.Parameter(Filled())",
    "chainer.Parameter(Filled('d'))",
    "chainer.Parameter()",
    "chainer.Parameter(None, (3,), name='own')",
]
OTHERS = ["A(3)", "5", "'text'", "None", "chainer.Variable(A(3))", "[1, 2]", "np.float32(1.5)"]

#: A program ends when its trees have more links.
MAX_LINKS = 200

MODES = ["share", "copy", "init"]
SEQUENCES = ("chainer.ChainList(", "chainer.Sequential(", "Lists(")


class Generator(Draws):
    """Writes one program.

    Args:
        seed: Number of the program.
    """

    def __init__(self, seed):
        super().__init__(seed)
        self.lines = []
        #: Name -> text that made the link.
        self.links = {}
        #: Whether default initializers are drawn. In release 7.8.1 the order of ``copy("init")``
        #: changes from process to process.
        self.draws = self.maybe(0.3)
        #: Some programs do not call ``copy`` and change all links. The other ones leave out what a
        #: copy of a list does not have in release 7.8.1: hooks and attributes of its own.
        self.copies = self.maybe(0.7)
        #: Copies by the module ``copy`` share their names of parameters in release 7.8.1.
        self.changes = self.maybe(0.7)

    def program(self):
        """Returns the statements."""
        for _ in range(1 + self.below(3)):
            self.new()
        for _ in range(4 + self.below(9)):
            action = self.pick(
                [self.new]
                + [self.attribute] * (4 if self.changes else 0)
                + [self.sequence] * 3
                + [self.copying] * 3
                + [self.gradients] * 3
                + [self.calling] * 3
                + [self.saving, self.asking, self.asking, self.updating]
                + [self.hooking] * (1 if self.changes else 0)
            )
            action()
        return self.lines

    def mode(self):
        """Returns the mode of a copy."""
        return self.pick(MODES[:2] if self.draws else MODES)

    def some(self, wanted=()):
        """Returns the name of a link, of a wanted kind if there is one; most often a late one."""
        names = list(self.links)
        if wanted:
            names = [name for name in names if self.links[name].startswith(wanted)] or names
        return self.pick(names[-3:]) if self.maybe(0.5) else self.pick(names)

    def changing(self):
        """Returns the name of a link whose attributes and hooks change; None if there is none."""
        names = [
            name
            for name, text in self.links.items()
            if not (self.copies and text.startswith((*SEQUENCES, "L.MLP")))
        ]
        return self.pick(names) if names else None

    def attribute_of(self, name):
        """Returns an attribute that a link has, most often."""
        text = self.links[name]
        if self.maybe(0.5):
            for start, names in (
                ("L.Linear", ["W", "b"]),
                ("Block", ["l1", "p", "l1.W"]),
                ("OldBlock", ["a", "b", "a.W"]),
                ("Nested", ["block", "items", "block.l1"]),
                ("L.Classifier", ["predictor"]),
                ("L.Batch", ["gamma", "beta", "avg_mean"]),
                ("chainer.Link(p", ["p", "q"]),
                ("Stateful", ["seen", "count", "scale"]),
            ):
                if text.startswith(start):
                    return self.pick(names)
        return self.pick(ATTRIBUTES)

    def leaf(self):
        """Returns the text of a link without children."""
        if self.draws:
            w = lateral = wx = conv = ""
        else:
            w, lateral = ", initialW=Filled()", ", lateral_init=Filled(), upward_init=Filled()"
            wx, conv = ", init_Wh=Filled(), init_Wt=Filled()", ", conv_init=Filled()"
        text = self.pick(LEAVES) if self.maybe(0.7) else self.pick(TREES)
        if text.startswith(("L.Parameter", "L.StatefulP")) and not self.draws:
            # In release 7.8.1, ``copy("init")`` fills the one with NaN, and draws the weights of
            # the other in another order in each process.
            return "Reporting()"
        text = text.replace("%d", str(self.below(3)))
        return text.format(w=w, lateral=lateral, wx=wx, conv=conv)

    def link(self, into=None):
        """Returns the text of a link: a new one, or the name of one.

        Args:
            into: Name of the link that gets it. It gets older links only, so that none is part of
                itself.
        """
        names = list(self.links)
        older = names if into is None else names[: names.index(into)]
        return self.pick(older) if older and self.maybe(0.4) else self.leaf()

    def new(self):
        """Adds a new link."""
        kind = self.below(6)
        items = [self.link() for _ in range(self.below(4))]
        if kind < 2:
            text = self.leaf()
        elif kind == 2:
            names = ATTRIBUTES[: len(items)]
            text = "chainer.Chain(%s)" % ", ".join(map("%s=%s".__mod__, zip(names, items)))
        elif kind == 3:
            text = "chainer.ChainList(%s)" % ", ".join(items)
        else:
            others = ["F.relu", "F.tanh", "half", "F.sin"]
            items += [self.pick(others) for _ in range(self.below(3))]
            self.random.shuffle(items)
            text = "chainer.Sequential(%s)" % ", ".join(items)
        self.make(text)

    def make(self, text, kind=None):
        """Adds a link that a text makes."""
        name = "k%d" % len(self.links)
        self.lines.append("%s = %s" % (name, text))
        self.links[name] = kind or text

    def attribute(self):
        """Adds a change of attributes, parameters and persistent values."""
        k = self.changing()
        if k is None:
            return
        name = self.attribute_of(k)
        value = self.pick(
            [self.pick(PARAMETERS), self.link(k), self.pick(OTHERS), self.pick(PARAMETERS)]
        )
        kind = self.below(13)
        scope = "with %s.init_scope(): " % k
        shape = self.pick(["(2, 3)", "(3,)", "()", "None", "3"])
        options = self.pick(["", ", dtype='d'", ", initializer=Filled()", ", 'f', 0.5", ", 'e', 2"])
        path = self.attribute_of(k)
        self.lines.append(
            [
                "%s%s.%s = %s" % (scope, k, name, value),
                "%s%s.%s = %s" % (scope, k, name, value),
                "%s%s.%s = %s" % (scope, k, name, value),
                "%s.%s = %s" % (k, name, value),
                "%s.add_param('%s', %s%s)" % (k, name, shape, options),
                "%s.add_link('%s', %s)" % (k, name, self.link(k)),
                "%s.add_persistent('%s', %s)" % (k, name, self.pick(OTHERS)),
                "%s.register_persistent('%s')" % (k, name),
                "del %s.%s" % (k, name),
                "%s.name = %s" % (k, self.pick(["'mine'", "None"])),
                "%s.%s.initialize(%s)" % (k, path, self.pick(["(2, 3)", "(3,)", "(3, 3)"])),
                "%s.%s.array = A(3, 3)" % (k, path),
                "%s.%s.grad = %s" % (k, path, self.pick(["A(3)", "A(3, 3)", "None"])),
            ][kind]
        )

    def sequence(self):
        """Adds a change of a list of links."""
        k = self.some(SEQUENCES)
        i, item = self.below(3), self.link(k)
        callables = self.links[k].startswith(SEQUENCES[1])
        if callables and self.maybe(0.4):
            item = self.pick(["F.relu", "half"])
        other = self.link(k)
        kind = self.below(14)
        self.lines.append(
            [
                "%s.append(%s)" % (k, item),
                "%s.add_link(%s)" % (k, item),
                "%s.insert(%d, %s)" % (k, self.pick([i, -1]), item),
                "%s[%s] = %s" % ((k, i, item) if callables else (k, ":1", "[%s]" % item)),
                "del %s[%s]" % (k, self.pick([str(i), "-1"] if callables else ["-1", ":1", "::2"])),
                "say(type(%s.pop(%s)))" % (k, self.pick(["", str(i)])),
                "%s.extend(%s)" % (k, self.pick([other, "[%s]" % item])),
                "%s.remove(%s[%d])" % (k, k, i),
                "%s.reverse()" % k if callables else "%s.clear()" % k,
                "%s.reverse()" % k,
                "say(len(%s))" % k
                if callables
                else "%s[%s] = [%s]" % (k, self.pick([":1", "1:", "::2", "0:2"]), item),
                "say(%s.count_by_layer_type('Linear'))" % k,
                "%s.remove_by_layer_type('%s')" % (k, self.pick(["Linear", "relu", "half"])),
                "%s %s %s" % (k, self.pick(["+=", "*="]), self.pick(["2", other])),
            ][kind]
        )
        if self.maybe(0.3):
            text = self.pick(["%s.flatten()", "%s + %s", "%s[0]"])
            self.make(text.replace("%s", self.some(SEQUENCES)), "chainer.Sequential(")

    def copying(self):
        """Adds a copy."""
        k = self.some()
        kind = self.links[k]
        texts = ["copy.deepcopy(%s)" % k, "pickled(%s)" % k]
        if self.copies:
            texts += ["%s.copy()" % k, "%s.copy('%s')" % (k, self.mode()), ""]
            texts += ["%s.copy(mode='%s')" % (k, self.mode())]
        if not self.changes:
            texts.append("copy.copy(%s)" % k)
        text = self.pick(texts)
        if text:
            self.make(text, kind)
        else:
            mode = self.pick(["", ", mode='%s'" % self.mode()])
            count = self.pick([0, 1, 2, 3])
            self.make("%s.repeat(%d%s)" % (k, count, mode or ", 'copy'"), SEQUENCES[1])

    def gradients(self):
        """Adds a change of gradients or of all parameters."""
        k, other = self.some(), self.some()
        self.lines.append(
            self.pick(
                [
                    "%s.cleargrads()" % k,
                    "%s.zerograds()" % k,
                    "%s.addgrads(%s)" % (k, other),
                    "%s.copyparams(%s)" % (k, other),
                    "%s.copyparams(%s, copy_persistent=False)" % (k, other),
                    "%s.enable_update()" % k,
                    "%s.disable_update()" % k,
                    "%s.to_cpu()" % k,
                    "%s.to_device('@numpy')" % k,
                    "backward_of(%s, X)" % k,
                ]
            )
        )

    def calling(self):
        """Adds a call."""
        k = self.some()
        self.lines.append(
            self.pick(["called(%s, X)", "backward_of(%s, X)", "backward_of(%s, X)"]) % k
        )

    def saving(self):
        """Adds that a link is saved and loaded."""
        k, other = self.some(), self.some()
        strict = self.pick(["", ", strict=False"])
        self.lines.append("saved = save(%s)" % k)
        self.lines.append("load(saved, %s%s)" % (self.pick([k, other]), strict))

    def asking(self):
        """Adds a question."""
        k, name = self.some(), self.pick([*ATTRIBUTES, "0"])
        sequence = self.some(SEQUENCES)
        self.lines.append(
            "say(%s)"
            % self.pick(
                [
                    "%s.count_params()" % k,
                    "[link.name for link in %s.children()]" % k,
                    "[name for name, _ in %s.namedlinks(skipself=True)]" % k,
                    "[name for name, _ in %s.namedparams(include_uninit=False)]" % k,
                    "[p.name for p in %s.params(include_uninit=False)]" % k,
                    "len(%s)" % sequence,
                    "[type(item) for item in %s]" % sequence,
                    "type(%s[%d])" % (sequence, self.below(3)),
                    "%s['%s'].name" % (k, name),
                    "%s in %s" % (self.some(), sequence),
                    "%s.index(%s)" % (sequence, self.some()),
                    "%s.count(%s)" % (sequence, self.some()),
                    "%s.update_enabled" % k,
                    "%s.within_init_scope" % k,
                    "%s.xp is np" % k,
                    "str(%s.device)" % k,
                    "sorted(%s._params), sorted(%s._persistent)" % (k, k),
                    "'%s' in %s.__dict__" % (name, k),
                    "%s.%s" % (k, self.attribute_of(k)),
                    "[type(item) for item in reversed(%s)]" % sequence,
                ]
            )
        )

    def updating(self):
        """Adds updates of an optimizer."""
        k = self.some()
        optimizer = self.pick(
            [
                "SGD(0.0625)",
                "MomentumSGD(0.0625)",
                "NesterovAG(0.0625)",
                "SGD(0.0625).use_fp32_update()",
            ]
        )
        self.lines.append("optimizer = chainer.optimizers.%s" % optimizer.split(".use")[0])
        self.lines.append("optimizer.setup(%s)" % k)
        if "use" in optimizer:
            self.lines.append("optimizer.use_fp32_update()")
        if self.maybe(0.3):
            hook = self.pick(["WeightDecay(0.25)", "GradientClipping(0.5)", "Lasso(0.25)"])
            self.lines.append("optimizer.add_hook(chainer.optimizer_hooks.%s)" % hook)
        self.lines.append("%s.cleargrads()" % k)
        self.lines.append("backward_of(%s, X)" % self.pick([k, self.some()]))
        self.lines.append("optimizer.update()")
        if self.maybe(0.3):
            self.lines.append("say(optimizer.t)")

    def hooking(self):
        """Adds or takes away a hook."""
        k = self.changing()
        if k is None:
            return
        hook = "Note('%s')" % self.pick("xy")
        self.lines.append(
            self.pick(
                [
                    "%s.add_hook(%s)" % (k, hook),
                    "%s.add_hook(%s, '%s')" % (k, hook, self.pick("xyz")),
                    "%s.delete_hook('%s')" % (k, self.pick("xyz")),
                    "with %s: called(%s, X)" % (hook, k),
                    "say(sorted(%s.local_link_hooks))" % k,
                    "%s.add_hook(link_hooks.SpectralNormalization())" % k,
                    "%s.add_hook(link_hooks.WeightStandardization())" % k,
                ]
            )
        )


def program_of(seed):
    """Returns the statements of a program.

    Args:
        seed: Its number.
    """
    return Generator(seed).program()


def answer(chainer, seed, lines=None):
    """Runs a program.

    Args:
        chainer: The library.
        seed: Number of the program.
        lines: Its statements; by default the ones of the number.

    Returns:
        list: For each statement the classes and text of its error or None, the classes of warnings,
        what it said, and the state of all links.
    """
    lines = program_of(seed) if lines is None else lines
    trace = []
    names = names_of(chainer, trace)
    np.random.seed(seed % 1000)
    results = []
    for line in lines:
        del trace[:]
        error = None
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                exec(line, names)
            except Exception as raised:
                error = [cls.__name__ for cls in type(raised).__mro__[:-2]]
                error.append(str(raised)[:200])
        if size_of(chainer, names) > MAX_LINKS:
            results.append("too large")
            break
        results.append([error, warned(caught), list(trace), names["state_of"](names)])
    return results


def size_of(chainer, names):
    """Returns the number of links in all trees, each as often as it occurs."""
    trees = [link for link in names.values() if isinstance(link, chainer.Link)]
    return sum(1 for tree in trees for _ in whole_part(itertools.islice(tree.links(), MAX_LINKS)))


def warned(caught):
    """Returns the names of the classes of warnings that both releases give."""
    ours = {"MisuseWarning", "RuntimeWarning", "VisibleDeprecationWarning"}
    return sorted({warning.category.__name__ for warning in caught} - ours)


def main(arguments):
    """Writes the answers of a range of programs as JSON, one a line; or of programs that are given.

    Args:
        arguments: First number and the number after the last; none to read pairs of a number and
            a list of statements from the standard input, one JSON text per line.
    """
    import chainer

    write_answers(functools.partial(answer, chainer), arguments)
