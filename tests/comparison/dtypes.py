"""Calls of all functions with mixtures of dtypes, and the dtypes that come out.

The file runs in Python 3.7 with release 7.8.1 as well as here.
``python -m tests.comparison --dtypes`` compares both.
"""

from __future__ import annotations

import copy
import itertools
import json
import sys
import warnings

import numpy as np

from tests.comparison.calls import GENERATORS, names
from tests.comparison.calls.draw import Call, Draw, Input, Source
from tests.comparison.worker import stages

FLOATS = "efd"
OTHERS = "il?"

#: Calls that are tried for each function: the one with the most inputs is taken.
TRIED = 40

#: Chances of mistakes and peculiarities in the arguments are up to this.
RARE = 0.12


class Regular(Draw):
    """Draws arguments without mistakes, arrays without elements or special layouts."""

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype, self.coarse, self.layout = "f", False, "C"

    def maybe(self, probability):
        """Returns True with a probability, and never for what is rare."""
        return super().maybe(probability) and probability > RARE

    def shape(self, low=0, high=3):
        """Returns a shape of one axis or more: NumPy 1 and 2 promote those of none in two ways."""
        return super().shape(max(low, 1), max(high, 1))

    def axes(self, ndim):
        """Returns an axis."""
        return self.axis(ndim)


def regular_call(name, number):
    """Returns a call of a function whose arguments fit."""
    args, kwargs = GENERATORS[name](Regular(number))
    return Call(number, name, list(args), kwargs)


def arrays_of(value):
    """Returns the places of all arrays in the arguments: pairs of an object and an index or None.

    Args:
        value: Arguments: nested lists, tuples and dictionaries.
    """
    if isinstance(value, Input):
        return [(value, None)]
    if isinstance(value, Source):
        return [(value, i) for i in range(len(value.arrays))]
    if isinstance(value, dict):
        return [place for _, item in sorted(value.items()) for place in arrays_of(item)]
    if isinstance(value, (list, tuple)):
        return [place for item in value for place in arrays_of(item)]
    return []


def array_at(place):
    """Returns the array at a place."""
    owner, index = place
    return owner.array if index is None else owner.arrays[index]


def mixtures(call):
    """Yields the mixtures of a call: letters of the dtypes and of the kinds of its arrays.

    The kinds are ``"v"`` for what the call takes, in general a Variable, and ``"r"`` for an array.
    """
    places = arrays_of([call.args, call.kwargs])
    given = [array_at(place).dtype.char for place in places]
    floats = [i for i, char in enumerate(given) if char in FLOATS]
    variables = [i for i in floats if places[i][1] is None and places[i][0].variable]
    plain = "v" * len(places)
    raws = [_replaced(plain, {i: "r"}) for i in variables] if len(variables) > 1 else []
    if variables and not call.function.startswith("lambda"):  # arrays alone are a matter of NumPy
        raws.append(_replaced(plain, dict.fromkeys(variables, "r")))

    def letters(changed):
        return _replaced("".join(given), changed)

    chosen = []
    if len(floats) <= 2:
        for kinds in [plain, *raws]:
            for combination in itertools.product(FLOATS, repeat=len(floats)):
                chosen.append((letters(dict(zip(floats, combination))), kinds))
    elif len(floats) == 3:
        for combination in itertools.product(FLOATS, repeat=3):
            chosen.append((letters(dict(zip(floats, combination))), plain))
        for kinds in raws:
            for combination in itertools.product("ef", repeat=3):
                chosen.append((letters(dict(zip(floats, combination))), kinds))
    else:
        for base in FLOATS:
            same = dict.fromkeys(floats, base)
            chosen += [(letters(same), kinds) for kinds in (plain, raws[-1] if raws else plain)]
            for i in floats:
                for other in FLOATS:
                    chosen.append((letters({**same, i: other}), plain))
        random = np.random.RandomState(0)
        for a, b in 4 * list(itertools.permutations(FLOATS, 2)):
            sides = random.randint(2, size=len(floats))
            changed = {i: b if side else a for i, side in zip(floats, sides)}
            chosen += [(letters(changed), plain)]
    for i in floats:
        chosen += [(letters({i: other}), plain) for other in OTHERS]
    if floats:
        chosen += [(letters(dict.fromkeys(floats, other)), plain) for other in OTHERS]
    for i, char in enumerate(given):
        if char not in FLOATS:
            chosen += [(letters({i: other}), plain) for other in "bBilfd"]
    return list(dict.fromkeys(chosen))


def _replaced(text, changed):
    return "".join(changed.get(i, char) for i, char in enumerate(text))


def mixed(call, dtypes, kinds):
    """Returns a call with arrays of other dtypes and kinds."""
    made = copy.deepcopy(call)
    for place, dtype, kind in zip(arrays_of([made.args, made.kwargs]), dtypes, kinds):
        owner, index = place
        if index is None:
            owner.array = owner.array.astype(dtype)
            owner.variable = owner.variable and kind == "v"
        else:
            arrays = list(owner.arrays)
            arrays[index] = arrays[index].astype(dtype)
            owner.arrays = tuple(arrays)
    return made


def outcome(chainer, call):
    """Returns kinds and dtypes that a call gives, stage by stage, or the classes of its error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        np.random.seed(0)
        answer = stages(chainer, call, second=False)
    answer.pop("statistics", None)
    for stage, results in answer.items():
        if isinstance(results, list):
            answer[stage] = [None if r is None else [*r[:2], [], []] for r in results]
    return answer


def outcomes(chainer, name, number):
    """Returns the outcomes of all mixtures of a call: ``{"ef vv": outcome}``."""
    call = regular_call(name, number)
    return {
        "%s %s" % (dtypes, kinds): outcome(chainer, mixed(call, dtypes, kinds))
        for dtypes, kinds in mixtures(call)
    }


def chosen_numbers(chainer, name):
    """Returns the numbers of the calls of a function that have the most and the fewest arrays.

    Both give a result. If their numbers of arrays are equal, it is one call.
    """

    def size(number):
        return len(arrays_of([calls[number].args, calls[number].kwargs]))

    calls = [regular_call(name, number) for number in range(TRIED)]
    working = []
    for number in sorted(range(TRIED), key=size):
        answer = outcome(chainer, calls[number])
        if not any(isinstance(results, dict) for results in answer.values()):
            working.append(number)
    if not working:
        raise ValueError("no call of %s gives a result" % name)
    same = size(working[0]) == size(working[-1])
    return working[:1] if same else [working[0], working[-1]]


def compare_outcomes(chainer, name, calls):
    """Returns the differences between the outcomes of 7.8.1 and of this release.

    A difference has the mixture in place of the number of its call.

    Args:
        chainer: The library.
        name: The function.
        calls: Number of a call, as text -> the outcomes of its mixtures in 7.8.1.
    """
    from tests.comparison.compare import differences

    found = []
    for number, theirs in calls.items():
        ours = outcomes(chainer, name, int(number))
        for mixture, answer in theirs.items():
            found += differences(mixture, name, answer, ours[mixture], "")
    return found


def main(arguments):
    """Writes the outcomes of all functions by the numbers of their calls, as JSON."""
    import chainer

    table = {}
    for name in names():
        if "wrong" in name:  # operators with operands that are refused
            continue
        table[name] = {
            number: outcomes(chainer, name, number) for number in chosen_numbers(chainer, name)
        }
    json.dump(table, sys.stdout, sort_keys=True)
