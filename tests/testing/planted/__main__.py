"""Plants every fault in turn: ``python -m tests.testing.planted [--quick] [WORD ...]``.

With ``--quick`` the quick form of certificates has to find them.
"""

import sys

from tests.testing.planted.other_faults import ALL
from tests.testing.planted.run import judge


def main(words: list[str]) -> int:
    """Prints a line for each fault whose name has one of the words; all without words."""
    options = [word for word in words if word.startswith("--")]
    words = [word for word in words if word not in options]
    missed = 0
    for kind, faults in ALL.items():
        chosen = [f for f in faults if not words or any(word in f.name for word in (*words,))]
        problems = 0
        for fault in chosen:
            problem = judge(fault, *options)
            problems += problem is not None
            print(f"{kind}: {fault.name}: {problem or 'found'}", flush=True)
        print(f"{kind}: {len(chosen) - problems} of {len(chosen)} found", flush=True)
        missed += problems
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
