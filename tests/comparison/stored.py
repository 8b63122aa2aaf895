"""The answers of release 7.8.1 that are stored, so that tests need no such release."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "answers_of_7_8_1.json.gz"
PATH_OF_CAFFE = Path(__file__).parent / "caffe_of_7_8_1.json.gz"
PATH_OF_DTYPES = Path(__file__).parent / "dtypes_of_7_8_1.json.gz"
PATH_OF_GRAPHS = Path(__file__).parent / "graphs_of_7_8_1.json.gz"
PATH_OF_LINKS = Path(__file__).parent / "links_of_7_8_1.json.gz"
PATH_OF_RUNS = Path(__file__).parent / "trainer_runs_of_7_8_1.json.gz"


def store(answers: Sequence[dict[str, Any]]) -> None:
    """Writes the answers to the calls from number 0 on."""
    text = "\n".join([json.dumps(_shortened(answer), separators=(",", ":")) for answer in answers])
    # Without a time, so that equal answers give an equal file.
    PATH.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def load() -> list[dict[str, Any]]:
    """Returns the stored answers; their positions are the numbers of the calls."""
    return [json.loads(line) for line in gzip.decompress(PATH.read_bytes()).splitlines()]


def store_dtypes(table: dict[str, Any]) -> None:
    """Writes the outcomes of mixtures of dtypes."""
    text = json.dumps(table, separators=(",", ":"), sort_keys=True)
    PATH_OF_DTYPES.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def load_dtypes() -> dict[str, Any]:
    """Returns for each function the number of its call and the outcomes of its mixtures."""
    return json.loads(gzip.decompress(PATH_OF_DTYPES.read_bytes()))


def store_graphs(answers: Sequence[list[Any]]) -> None:
    """Writes what the programs of backpropagation did, from number 0 on."""
    text = json.dumps(answers, separators=(",", ":"))
    PATH_OF_GRAPHS.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def load_graphs() -> list[list[Any]]:
    """Returns what the programs did; their positions are the numbers of the programs."""
    return json.loads(gzip.decompress(PATH_OF_GRAPHS.read_bytes()))


def store_runs(runs: Sequence[dict[str, Any]]) -> None:
    """Writes random runs of a trainer."""
    text = "\n".join([json.dumps(run, separators=(",", ":"), sort_keys=True) for run in runs])
    PATH_OF_RUNS.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def load_runs() -> list[dict[str, Any]]:
    """Returns the stored runs; their positions are their numbers."""
    return [json.loads(line) for line in gzip.decompress(PATH_OF_RUNS.read_bytes()).splitlines()]


def store_links(answers: Sequence[list[Any]]) -> None:
    """Writes what programs of links did, from number 0 on; of the states, the last of each."""
    for answer in answers:
        for outcome in answer[:-1]:
            outcome[-1] = None
    text = json.dumps(answers, separators=(",", ":"))
    PATH_OF_LINKS.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def load_links() -> list[list[Any]]:
    """Returns what programs of links did; their positions are the numbers of the programs."""
    return json.loads(gzip.decompress(PATH_OF_LINKS.read_bytes()))


def store_caffe(answers: Sequence[dict[str, Any]]) -> None:
    """Writes what networks of Caffe compute, from number 0 on."""
    text = "\n".join([json.dumps(answer, separators=(",", ":")) for answer in answers])
    PATH_OF_CAFFE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def load_caffe() -> list[dict[str, Any]]:
    """Returns what networks compute; their positions are the numbers of the networks."""
    return [json.loads(line) for line in gzip.decompress(PATH_OF_CAFFE.read_bytes()).splitlines()]


def _shortened(answer: Any) -> Any:
    """Returns an answer with numbers of seven digits, which is enough to compare."""
    if isinstance(answer, float):
        return float(f"{answer:.7g}")
    if isinstance(answer, dict):
        return {key: _shortened(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_shortened(value) for value in answer]
    return answer
