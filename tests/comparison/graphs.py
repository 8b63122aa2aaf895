"""Random programs that build graphs and run backpropagation, and all gradients that they leave.

The file runs in Python 3.7 with release 7.8.1 as well as here, and
``python -m tests.comparison --graphs`` compares both. A program is a list of statements, so that it
can be printed and made smaller.
"""

from __future__ import annotations

import functools
import re
import sys
import warnings

import numpy as np

from tests.comparison.answering import write_answers
from tests.comparison.draws import Draws

#: Names of the functions of one output and one input, and of two inputs.
UNARY = ["-{0}", "{0} * 2", "3 - {0}", "{0} + c", "F.identity({0})", "{0} * {0}", "F.relu({0})"]
BINARY = ["{0} + {1}", "{0} * {1}", "{0} - {1}", "F.where(mask, {0}, {1})", "F.add({0}, {1}, {0})"]
#: Functions of several outputs: text, number of inputs, number of outputs.
SEVERAL = [
    ("F.split_axis(F.concat(({0}, {1}), 0), 2, 0)", 2, 2),
    ("F.separate(F.stack(({0}, {1}, {0})))", 2, 3),
    ("F.identity({0}, {1})", 2, 2),
    ("Linear(2).apply(({0},))", 1, 2),
    ("Linear(3).apply(({0}, {1}))", 2, 3),
    ("Product().apply(({0}, {1}))", 2, 2),
    ("OldLinear(2)({0}, {1})", 2, 2),
    ("Squares().apply(({0}, {1}))", 2, 2),
]
#: Other functions of one output.
OTHER = [
    ("Linear(1).apply(({0}, {1}))[0]", 2),
    ("Skipping().apply(({0}, {1}))[0]", 2),
    ("Accumulating().apply(({0}, {1}))[0]", 2),
    ("OldLinear(1)({0}, {1})", 2),
    ("Lacking().apply(({0}, None, {1}))[0]", 2),
    ("F.sum({0}) * one", 1),
    ("F.broadcast_to(F.sum({0}), (2,))", 1),
]


class Generator(Draws):
    """Writes one program.

    Args:
        seed: Number of the program.
    """

    def __init__(self, seed):
        super().__init__(seed)
        self.lines = []
        self.names = []
        self.unchained = set()
        #: Whether gradients are differentiated. Old functions have none.
        self.is_twice = self.maybe(0.4)

    def variable(self):
        """Returns the name of a variable, most often of a late one."""
        if self.maybe(0.5):
            return self.pick(self.names[-4:])
        return self.pick(self.names)

    def function_among(self, items):
        """Returns an element, none with an old function if gradients are differentiated."""
        return self.pick([item for item in items if not (self.is_twice and "Old" in item[0])])

    def new(self):
        """Returns the name of one more variable."""
        name = "v%d" % len(self.names)
        self.names.append(name)
        return name

    def array(self):
        """Returns the text of an array of two small integers."""
        return "A(%d, %d)" % (self.below(7) - 3, self.below(7) - 3)

    def program(self):
        """Returns the statements."""
        for _ in range(1 + self.below(3)):
            self.leaf()
        for _ in range(3 + self.below(6)):
            self.function()
        for _ in range(2 + self.below(5)):
            if self.maybe(0.45):
                self.change()
            elif self.maybe(0.35):
                self.function()
            else:
                self.differentiate()
        self.differentiate()
        return self.lines

    def leaf(self):
        """Adds a leaf."""
        options = ""
        if self.maybe(0.15):
            options += ", grad=" + self.array()
        if self.maybe(0.12):
            options += ", requires_grad=False"
        array = self.array()
        text = "chainer.Variable(%s%s)" % (array, options)
        if self.maybe(0.15):
            text = "parameter(%s)" % array
        self.lines.append("%s = %s" % (self.new(), text))

    def function(self):
        """Adds the application of a function."""
        x, y = self.variable(), self.variable()
        kind = self.random.random()
        if kind < 0.25:
            text = self.pick(UNARY).format(x)
        elif kind < 0.5:
            text = self.pick(BINARY).format(x, y)
        elif kind < 0.65:
            text, _ = self.function_among(OTHER)
            text = text.format(x, y)
        else:
            text, _, outputs = self.function_among(SEVERAL)
            targets = [self.new() if self.maybe(0.85) else "_" for _ in range(outputs)]
            self.lines.append("%s = %s" % (", ".join(targets), text.format(x, y)))
            self.lines.append("_ = None")
            return
        line = "%s = %s" % (self.new(), text)
        if self.maybe(0.04):
            line = "with chainer.no_backprop_mode(): " + line
        self.lines.append(line)

    def change(self):
        """Adds a change of the graph or of a gradient."""
        x = self.variable()
        kind = self.below(9)
        if kind < 2:
            self.unchained.add(x)
        self.lines.append(
            [
                "%s.unchain()" % x,
                "%s.unchain()" % x,
                "%s.unchain_backward()" % x,
                "%s.grad = %s" % (x, self.array()),
                "%s.grad = %s" % (x, self.array()),
                "%s.grad_var = chainer.Variable(%s)" % (x, self.array()),
                "%s.grad_var = %s" % (x, self.variable()),
                "%s.cleargrad()" % x,
                "%s = None" % x if len(set(self.names)) > 3 else "gc.collect()",
            ][kind]
        )
        if self.lines[-1].endswith(" = None"):
            # Names keep their numbers, so another one takes the place of this.
            left = [name for name in self.names if name != x]
            self.names = [left[0] if name == x else name for name in self.names]

    def differentiate(self):
        """Adds a backward pass."""
        kind = self.random.random()
        twice = self.is_twice and self.maybe(0.5)
        options = ", enable_double_backprop=True" if twice else ""
        if kind < 0.5:
            x = self.variable()
            if self.maybe(0.4):
                options += ", retain_grad=True"
            if self.maybe(0.1):
                options += ", loss_scale=2."
            line = "%s.backward(%s)" % (x, options[2:])
            if self.maybe(0.4):
                self.lines.append("%s.grad = %s" % (x, self.array()))
            else:
                line = "F.sum(%s).backward(%s)" % (x, options[2:])
            if self.maybe(0.15) and ("retain" in line or line.startswith("F")):
                line = "%s; %s" % (line, line)
        elif kind < 0.62:
            ys = [self.variable() for _ in range(1 + self.below(3))]
            if self.maybe(0.5):
                for y in ys:
                    self.lines.append("%s.grad = %s" % (y, self.array()))
                line = "chainer.backward([%s]%s)" % (", ".join(ys), options)
            else:
                gys = self.variables_or_none(len(ys), 0.2)
                line = "chainer.backward([%s], %s%s)" % (", ".join(ys), gys, options)
        else:
            ys = [self.variable() for _ in range(1 + self.below(2))]
            # The gradient of an unchained input may be lost in release 7.8.1.
            xs = [self.variable() for _ in range(1 + self.below(3))]
            xs = [x for x in xs if x not in self.unchained] or [self.names[0]]
            if self.maybe(0.5):
                options += ", grad_outputs=" + self.variables_or_none(len(ys), 0.3)
            if self.maybe(0.4):
                options += ", grad_inputs=" + self.variables_or_none(len(xs), 0.4)
            if self.maybe(0.25):
                options += ", set_grad=True"
            # Without set_grad, release 7.8.1 retains no gradients of inputs.
            elif self.maybe(0.33):
                options += ", retain_grad=True, set_grad=True"
            if self.maybe(0.08):
                options += ", loss_scale=2."
            line = "gs = chainer.grad([%s], [%s]%s)" % (", ".join(ys), ", ".join(xs), options)
            names = [self.new() for _ in xs]
            self.lines.append("gs = [None] * %d" % len(xs))
            self.lines.append(self.framed(line))
            self.lines.append("see([%s], gs)" % ", ".join(xs))
            for i, name in enumerate(names):
                self.lines.append("%s = chosen(gs[%d], %s)" % (name, i, twice))
            self.lines.append("gs = None")
            return
        self.lines.append(self.framed(line))

    def framed(self, line):
        """Puts a backward pass into a context, or not."""
        kind = self.random.random()
        if kind < 0.1:
            return "with Hook(): " + line
        if kind < 0.15:
            return "with chainer.using_config('lazy_grad_sum', True): " + line
        if kind < 0.18:
            return "with chainer.using_config('debug', True): " + line
        return line

    def variables_or_none(self, number, chance):
        """Returns the text of a list of gradients."""
        return "[%s]" % ", ".join(
            "None"
            if self.maybe(chance)
            else self.variable()
            if self.maybe(0.3)
            else "chainer.Variable(%s)" % self.array()
            for _ in range(number)
        )


def program_of(seed):
    """Returns the statements of a program.

    Args:
        seed: Its number.
    """
    return Generator(seed).program()


# -- what the programs use ------------------------------------------------------------------------


def functions_of(chainer, trace):
    """Returns classes of functions that programs use.

    Args:
        chainer: The library.
        trace: List to which the functions add what they are given.
    """

    class Linear(chainer.FunctionNode):
        """Sums with factors 1, 2, 3, ... of the inputs, for each output."""

        def __init__(self, outputs):
            self.count = outputs

        def forward(self, inputs):
            return tuple(
                sum((i + j + 1) * x for i, x in enumerate(inputs)) for j in range(self.count)
            )

        def backward(self, indexes, gys):
            trace.append(["Linear", list(indexes), [gy is not None for gy in gys]])
            result = []
            for i in indexes:
                terms = [gy * (i + j + 1.0) for j, gy in enumerate(gys) if gy is not None]
                result.append(sum(terms[1:], terms[0]) if terms else None)
            return tuple(result)

    class Product(chainer.FunctionNode):
        """The product of two inputs, and its double."""

        def forward(self, inputs):
            self.retain_inputs((0, 1))
            return inputs[0] * inputs[1], 2 * inputs[0] * inputs[1]

        def backward(self, indexes, gys):
            trace.append(["Product", list(indexes), [gy is not None for gy in gys]])
            a, b = self.get_retained_inputs()
            g = None if gys[0] is None else gys[0]
            if gys[1] is not None:
                g = gys[1] * 2.0 if g is None else g + gys[1] * 2.0
            if g is None:
                return None, None
            return g * b, g * a

    class Squares(chainer.FunctionNode):
        """Sum and product, the latter retained."""

        def forward(self, inputs):
            self.retain_outputs((1,))
            self.retain_inputs((0,))
            return inputs[0] + inputs[1], inputs[0] * 1

        def backward(self, indexes, gys):
            trace.append(["Squares", list(indexes), [gy is not None for gy in gys]])
            (y,) = self.get_retained_outputs()
            (x,) = self.get_retained_inputs()
            g0 = gys[0]
            g1 = None if gys[1] is None else gys[1] * (y - x + 1.0)
            if g0 is None:
                return g1, None
            return (g0 if g1 is None else g0 + g1), g0

    class Skipping(chainer.FunctionNode):
        """A sum with a gradient for the first input only."""

        def forward(self, inputs):
            return (inputs[0] + inputs[1],)

        def backward(self, indexes, gys):
            trace.append(["Skipping", list(indexes), [gy is not None for gy in gys]])
            return gys[0], None

    class Lacking(chainer.FunctionNode):
        """A sum of inputs that are not None."""

        def forward(self, inputs):
            return (sum(x for x in inputs if x is not None),)

        def backward(self, indexes, gys):
            trace.append(["Lacking", list(indexes), [gy is not None for gy in gys]])
            return tuple(gys[0] for _ in indexes)

    class Accumulating(chainer.FunctionNode):
        """A sum that adds to known gradients by itself."""

        def forward(self, inputs):
            return (inputs[0] + 2 * inputs[1],)

        def backward(self, indexes, gys):
            return tuple(gys[0] * (1.0 + i) for i in indexes)

        def backward_accumulate(self, indexes, gys, gxs):
            trace.append(["Accumulating", list(indexes), len(gxs)])
            found = self.backward(indexes, gys)
            return tuple(g if gx is None else g + gx for g, gx in zip(found, gxs))

    class OldLinear(chainer.Function):
        """As Linear, in the old style."""

        def __init__(self, outputs):
            self.count = outputs

        def forward(self, inputs):
            return tuple(
                sum((i + j + 1) * x for i, x in enumerate(inputs)) for j in range(self.count)
            )

        def backward(self, inputs, gys):
            trace.append(["OldLinear", len(inputs), [gy is not None for gy in gys]])
            known = [(j, gy) for j, gy in enumerate(gys) if gy is not None]
            return tuple(
                sum(gy * (i + j + 1) for j, gy in known) if known else None
                for i in range(len(inputs))
            )

    class Hook(chainer.FunctionHook):
        """Writes down what it sees."""

        name = "Hook"

        def backward_preprocess(self, function, in_data, out_grad):
            trace.append(["backward", label_of(function), [g is not None for g in out_grad]])

        def backward_postprocess(self, function, in_data, out_grad):
            trace.append(["after", label_of(function), [g is not None for g in out_grad]])

    return [Linear, Product, Squares, Skipping, Lacking, Accumulating, OldLinear, Hook]


class Run:
    """One run of a program.

    Args:
        chainer: The library.
        watches_all: Whether gradients are looked at after every statement, not only at the end.
    """

    def __init__(self, chainer, watches_all):
        self.chainer = chainer
        self.watches_all = watches_all
        self.trace = []
        #: Name of a variable -> the variable that was its gradient when it was looked at last.
        self.gradients = {}
        self.has_ranks = True

    def execute(self, lines):
        """Runs a program; returns a list of what it did, one element per statement and the end."""
        import gc

        chainer = self.chainer
        # How gradients of gradients are computed, and hence their ranks, depends on the release.
        self.has_ranks = not any("enable_double_backprop" in line for line in lines)

        def array(*values):
            return np.array(values, np.float64)

        def parameter(data):
            result = chainer.Parameter(data)
            result.cleargrad()
            return result

        def see(xs, gradients):
            for i, g in enumerate(gradients):
                same = [other is g for x, other in zip(xs, gradients[:i]) if x is xs[i]]
                self.trace.append(["result", same, None if g is None else values_of(g.array)])

        def chosen(g, is_graph):
            if g is None:
                return chainer.Variable(array(1, 1))
            return g if is_graph else chainer.Variable(g.array)

        names = {
            "chainer": chainer,
            "F": chainer.functions,
            "A": array,
            "c": array(2, 5),
            "one": array(1, 1),
            "mask": np.array([True, False]),
            "gc": gc,
            "parameter": parameter,
            "see": see,
            "chosen": chosen,
        }
        for cls in functions_of(chainer, self.trace):
            names[cls.__name__] = cls
        results = []
        for line in lines:
            del self.trace[:]
            error = None
            if gives_an_output_twice(line, names):
                self.trace.append(["one output twice"])
            try:
                exec(line, names)
            except Exception as caught:
                error = [cls.__name__ for cls in type(caught).__mro__[:-2]]
                if isinstance(caught, NameError):
                    error = ["NameError"]
                caught = None
            state = self.state(names) if self.watches_all else None
            results.append([error, list(self.trace), state])
        results.append([None, [], self.state(names)])
        return results

    def state(self, names):
        """Returns the gradients of all variables of a program by name."""
        found = {}
        variables = {k: x for k, x in names.items() if isinstance(x, self.chainer.Variable)}
        gradients = {id(x): x.grad_var for x in variables.values()}
        for name, x in sorted(variables.items()):
            gradient = gradients[id(x)]
            state = [x.requires_grad, x.creator is not None, x.rank if self.has_ranks else None]
            if gradient is not None:
                same = self.gradients.get(name) is gradient
                if sum(other is gradient for other in gradients.values()) > 1:
                    # Several variables have one gradient: release 8 makes copies.
                    same = None
                state += [same, values_of(gradient.array)]
                state += [x.grad is gradient.array, x.node.grad_var is gradient]
            self.gradients[name] = gradient
            found[name] = state
        return found


def gives_an_output_twice(line, names):
    """Returns whether a statement calls ``chainer.grad`` with one output several times."""
    found = re.search(r"chainer\.grad\(\[([^]]*)\]", line)
    outputs = [id(names.get(name, name)) for name in found.group(1).split(", ")] if found else []
    return len(set(outputs)) < len(outputs)


def label_of(function):
    """Returns the label of a function; release 7.8.1 does not call arrays constants."""
    return function.label.replace("constant array", "_")


def values_of(array):
    """Returns the elements of an array in a form for JSON."""
    return [float("%.12g" % value) for value in np.asarray(array).ravel().tolist()]


def answer(chainer, seed, lines=None):
    """Runs a program and returns what it did.

    Args:
        chainer: The library.
        seed: Number of the program.
        lines: Its statements; by default those of the number.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        run = Run(chainer, seed % 2 == 0)
        return run.execute(program_of(seed) if lines is None else lines)


def main(arguments):
    """Writes the answers of a range of programs, or of programs from the standard input.

    Args:
        arguments: First number and the number after the last; none to read pairs of a number and
            a list of statements from the standard input, one JSON text per line.
    """
    import chainer

    write_answers(functools.partial(answer, chainer), arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
