"""Writes what random programs do, for the interpreter that compares."""

import json
import sys


def write_answers(answer, arguments):
    """Writes the answers of a range of programs as JSON, one a line; or of programs that are given.

    Args:
        answer: Function of the number of a program, and of its statements if they are given.
        arguments: First number and the number after the last; none to read pairs of a number and
            a list of statements from the standard input, one JSON text per line.
    """
    if arguments:
        for seed in range(int(arguments[0]), int(arguments[1])):
            sys.stdout.write(json.dumps(answer(seed)) + "\n")
    else:
        for text in sys.stdin:
            seed, lines = json.loads(text)
            sys.stdout.write(json.dumps(answer(seed, lines)) + "\n")
            sys.stdout.flush()
    sys.stdout.flush()
