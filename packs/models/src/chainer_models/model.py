"""The base class of all architectures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import chainer
from chainer.typing import HostArray

from chainer_models.caches import Cache
from chainer_models.errors import ModelFileError
from chainer_models.names import Named, Row, named_parameters
from chainer_models.options import Options, read_json
from chainer_models.packing import is_packed


class Wrapper(chainer.Chain):
    """A link that takes the place of a layer, which is its child ``base``."""


class Model(chainer.Chain):
    """A model that is made from the options of a file ``config.json``.

    A subclass makes its links in ``__init__(self, config)`` and has a table of names. It is
    registered under its ``model_type`` by the hook ``chainer_model_architectures``.

    Args:
        config: The options.

    Attributes:
        config (Options): The options.
        folder (Path or None): Where the model was loaded from.
    """

    #: Prefixes of names that files have or lack, depending on the class that saved them.
    prefixes: ClassVar[tuple[str, ...]] = ()
    #: Patterns (of :mod:`fnmatch`) of names in files that are not parameters.
    ignored: ClassVar[tuple[str, ...]] = ()

    #: Paths of embeddings that are heads, too, and that the model calls and multiplies only by
    #: :func:`chainer_models.packing.scores_of_words`.
    tied_embeddings: tuple[str, ...] = ()

    #: Standard deviation of new embeddings, if the options have no ``initializer_range``.
    embedding_scale: ClassVar[float] = 0.02

    #: Whether the model has a head; its name, or ``""``, in models that may lack one.
    has_head: bool | str = True

    def __init__(self, config: Options) -> None:
        super().__init__()
        self.config = config
        self.folder: Path | None = None
        self._generation: dict[str, Any] | None = None

    def head_of(self, config: Options, heads: Mapping[str, str]) -> str:
        """Returns which head a model has, by the class that its files name.

        Args:
            config: Options of ``config.json``.
            heads: End of the name of a class, such as ``"ForMaskedLM"`` -> name of the head.

        Returns:
            str: The name, or ``""`` for a model without a head.
        """
        names = config.sequence("architectures") or []
        name = str(names[0]) if names else ""
        for end, head in heads.items():
            if name.endswith(end):
                return head
        if name and "For" in name:
            raise ModelFileError(
                f"'architectures' of {config.source} must name a class without a head, or one that "
                f"ends with {', '.join(heads)}; got {name!r}"
            )
        return ""

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        raise NotImplementedError(f"{type(self).__name__} must define rows()")

    def copies(self) -> Mapping[str, str]:
        """Returns names of tensors that a file may have besides the one that they are equal to."""
        return {}

    def file_names(self) -> list[Named]:
        """Returns all parameters with their names in files.

        Raises:
            ValueError: If layers were wrapped by :func:`~chainer_models.add_lora`, or packed.
        """
        if is_packed(self):
            raise ValueError(
                f"{type(self).__name__} has packed weights, which files have no form for; "
                "unpack_weights makes it an ordinary model"
            )
        if any(isinstance(link, Wrapper) for link in self.links()):
            raise ValueError(
                f"{type(self).__name__} has LoRA, which save_adapter saves; merge_lora makes it an "
                "ordinary model"
            )
        return [
            named._replace(file=self.short_name(named.file))
            for named in named_parameters(self, self.rows())
        ]

    def short_name(self, name: str) -> str:
        """Returns a name as it is in files of this model: without a head there is no prefix.

        Args:
            name: Name of the table.
        """
        return name if self.has_head or not self.prefixes else name.removeprefix(self.prefixes[0])

    def constants(self) -> Mapping[str, HostArray]:
        """Returns tensors that files have although no parameter is made of them."""
        return {}

    def generation_option(self, name: str) -> Any:
        """Returns an option of generation: of ``generation_config.json``, or of the model.

        Args:
            name: Name of the option.
        """
        if self._generation is None:
            path = None if self.folder is None else self.folder / "generation_config.json"
            self._generation = read_json(path) if path is not None and path.is_file() else {}
        value = self._generation.get(name)
        return self.config.get(name) if value is None else value

    def make_cache(self) -> Cache:
        """Returns a cache for a text, if the model generates text."""
        raise TypeError(f"{type(self).__name__} does not generate text")
