"""Names of the public modules: what ``dir()`` lists in release 7.8.1.

The module runs in release 7.8.1, too, hence on Python 3.7.
"""

import importlib
import json
import types
import warnings
from pathlib import Path

#: All modules of release 7.8.1.
LIST = Path(__file__).resolve().parent.parent / "behavior" / "modules_of_7_8_1.txt"


def names():
    """Returns module -> name -> ``module`` with its package, ``callable`` or ``value``."""
    modules = {}
    for line in LIST.read_text().splitlines():
        name = line.split()[0]
        try:
            modules[name] = importlib.import_module(name)
        except ImportError:
            continue
    # After all imports: a submodule becomes an attribute of its package when it is imported.
    return {name: _kinds(module) for name, module in modules.items()}


def _kinds(module):
    kinds = {}
    for name in dir(module):
        value = getattr(module, name, None)
        if name.startswith("_") or value is None:
            continue
        if isinstance(value, types.ModuleType):
            kinds[name] = "module " + value.__name__.split(".")[0]
        else:
            kinds[name] = "callable" if callable(value) else "value"
    return kinds


def main(arguments):
    """Prints the names as JSON.

    Args:
        arguments (list of str): None.
    """
    warnings.simplefilter("ignore")
    print(json.dumps(names(), sort_keys=True))
