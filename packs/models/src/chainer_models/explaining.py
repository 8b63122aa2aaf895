"""Tells which files a folder has, and how they are understood."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from chainer.plugins import registries

from chainer_models.files import Tensors
from chainer_models.loading import from_config, match
from chainer_models.options import architecture_name, read_options


@dataclass(frozen=True)
class Explanation:
    """Facts about a folder; its text is a summary.

    Attributes:
        model_type: The ``model_type`` of ``config.json``, or the name of timm.
        architecture: The class that reads it.
        distribution: The distribution that registers the class, with its version.
        n_parameters: Number of elements of all parameters.
        missing: Names of tensors that the files lack.
        unused: Names of tensors that the model does not use.
        not_understood: Names of options that nothing reads, and that may change the results.
    """

    model_type: str
    architecture: str
    distribution: str
    n_parameters: int
    missing: list[str] = field(default_factory=list[str])
    unused: list[str] = field(default_factory=list[str])
    not_understood: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        lines = [
            f"model_type       {self.model_type}",
            f"architecture     {self.architecture} of {self.distribution}",
            f"parameters       {self.n_parameters:,}",
        ]
        for title, names in (
            ("missing", self.missing),
            ("unused", self.unused),
            ("not understood", self.not_understood),
        ):
            lines.append(f"{title:16} {', '.join(names) or 'none'}")
        return "\n".join(lines)


def explain(folder: str | os.PathLike[str]) -> Explanation:
    """Tells what a folder contains, and what is not understood of it, without loading weights.

    Args:
        folder (path): A folder in Hugging Face's layout.

    Returns:
        Explanation: The result; ``print`` shows it.

    Raises:
        ModelFileError: (a ValueError) If a file is damaged or the ``model_type`` is not known.
    """
    folder = Path(folder)
    options = read_options(folder)
    # The options that the architecture reads are marked while it is made.
    model = from_config(options)
    fitting = match(model, Tensors(folder))
    name = architecture_name(options)
    entry = next(e for e in registries.model_architectures.entries() if e.name == name)
    provenance = entry.provenance
    distribution = "this program"
    if provenance is not None:
        distribution = f"{provenance.distribution} {provenance.version}"
    return Explanation(
        name,
        f"{type(model).__module__}.{type(model).__qualname__}",
        distribution,
        sum([named.parameter.array.size for named in model.file_names()]),
        fitting.missing,
        fitting.unused,
        options.not_read(),
    )
