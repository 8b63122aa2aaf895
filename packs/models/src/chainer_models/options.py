"""The options of a file ``config.json``, checked when they are read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chainer_models.errors import ModelFileError

#: Options that say nothing about what a model computes: texts, training, generation.
_NOT_COMPUTED = frozenset(
    "_name_or_path architectures auto_map bos_token_id dtype eos_token_id id2label "
    "initializer_factor initializer_range label2id model_type output_attentions "
    "output_hidden_states pad_token_id problem_type return_dict task_specific_params "
    "tokenizer_class torch_dtype transformers_version use_cache chunk_size_feed_forward "
    "gradient_checkpointing sep_token_id cls_token_id unk_token_id name_or_path "
    "is_encoder_decoder forced_bos_token_id forced_eos_token_id summary_activation "
    "summary_first_dropout summary_proj_to_labels summary_type summary_use_proj "
    "pretraining_tp classifier_dropout finetuning_task num_labels max_position_embeddings "
    "qa_dropout seq_classif_dropout init_std".split()
)

#: Names of probabilities: "resid_pdrop", "hidden_dropout_prob", "drop_path_rate",
#: "encoder_layerdrop" and so on.
_PROBABILITY = re.compile(r"(drop|dropout|drop_path)(_rate|_prob)?$|^mask_\w+_prob$")

#: Greatest value of a size. No published model comes near it. More elements of one axis would need
#: gigabytes before the shape of any tensor is compared.
_LARGEST_SIZE = 1 << 28


class Options(Mapping[str, Any]):
    """The options of a model: a mapping that checks kinds and remembers what was read.

    Args:
        values: Name -> value, as in ``config.json``.
        source: Name of the file, for errors.
    """

    def __init__(self, values: Mapping[str, Any], source: str = "the configuration") -> None:
        if not isinstance(values, Mapping):
            raise ModelFileError(f"{source} must be an object of names, got {values!r}")
        self._values = dict(values)
        self.source = source
        self.read: set[str] = set()
        for name, value in self._values.items():
            # Also those that no model here reads: a file with a wrong one is damaged. True and
            # False may be switches of such options.
            if _is_probability(name) and value is not None and not isinstance(value, bool):
                self.probability(name)
        self.read.clear()

    def __getitem__(self, name: str) -> Any:
        value = self._values[name]
        self.read.add(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def as_dict(self) -> dict[str, Any]:
        """Returns all values, for a new file."""
        return dict(self._values)

    def not_read(self) -> list[str]:
        """Returns names of options that may change the result and that nothing has read."""
        return sorted(
            name
            for name, value in self._values.items()
            # Models turn features on by options: one that is off changes nothing.
            if name not in self.read and name not in _NOT_COMPUTED and value not in (None, False)
        )

    def skip(self, *names: str) -> None:
        """Marks options as understood that do not change what a loaded model computes.

        Args:
            names: Their names.
        """
        self.read.update(names)

    def integer(self, *names: str, default: int | None = None, least: int = 1) -> int:
        """Returns the first of some options that is given, a whole number.

        Args:
            names: Names of the option; models of different times name it differently.
            default: Value if none is given; None if one must be.
            least: Smallest value.
        """
        value = self._first(names, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(names, "an integer", value)
        if not least <= value <= _LARGEST_SIZE:
            raise self._wrong(names, f"between {least} and {_LARGEST_SIZE}", value)
        return value

    def optional_integer(self, *names: str) -> int | None:
        """Returns the same, or None if no option is given.

        Args:
            names: Names of the option.
        """
        if all([self._values.get(name) is None for name in names]):
            self.read.update(names)
            return None
        return self.integer(*names)

    def number(self, *names: str, default: float | None = None) -> float:
        """Returns the first of some options that is given, a finite number.

        Args:
            names: Names of the option.
            default: Value if none is given; None if one must be.
        """
        value = self._first(names, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(names, "a number", value)
        try:
            value = float(value)
        except OverflowError:  # an integer of hundreds of digits
            value = math.inf
        if not math.isfinite(value):
            raise self._wrong(names, "finite", value)
        return value

    def probability(self, *names: str, default: float | None = None) -> float:
        """Returns the first of some options that is given, a probability of dropping something.

        Args:
            names: Names of the option.
            default: Value if none is given; None if one must be.
        """
        value = self.number(*names, default=default)
        if not 0 <= value < 1:
            raise self._wrong(names, "in the range [0, 1)", value)
        return value

    def positive(self, *names: str, default: float | None = None) -> float:
        """Returns the first of some options that is given, a finite number above zero.

        Args:
            names: Names of the option.
            default: Value if none is given; None if one must be.
        """
        value = self.number(*names, default=default)
        if value <= 0:
            raise self._wrong(names, "positive", value)
        return value

    def optional_positive(self, *names: str) -> float | None:
        """Returns the same, or None if no option is given.

        Args:
            names: Names of the option.
        """
        if all([self._values.get(name) is None for name in names]):
            self.read.update(names)
            return None
        return self.positive(*names)

    def flag(self, name: str, default: bool = False) -> bool:
        """Returns an option that is true or false.

        Args:
            name: Name of the option.
            default: Value if it is not given.
        """
        value = self._first((name,), default)
        if not isinstance(value, bool):
            raise self._wrong((name,), "true or false", value)
        return value

    def text(self, *names: str, default: str | None = None) -> str:
        """Returns the first of some options that is given, a text.

        Args:
            names: Names of the option.
            default: Value if none is given; None if one must be.
        """
        value = self._first(names, default)
        if not isinstance(value, str):
            raise self._wrong(names, "a text", value)
        return value

    def choice(self, name: str, choices: Sequence[str], default: str) -> str:
        """Returns an option that has one of some values.

        Args:
            name: Name of the option.
            choices: The values that are understood.
            default: Value if it is not given.
        """
        value = self.text(name, default=default)
        if value not in choices:
            raise self._wrong((name,), f"one of {', '.join(map(repr, choices))}", value)
        return value

    def sequence(self, name: str, length: int | None = None) -> list[Any] | None:
        """Returns an option that is a list, or None if it is not given.

        Args:
            name: Name of the option.
            length: Length that it must have; None if any.
        """
        value = self._first((name,), ())
        if value == ():
            return None
        if not isinstance(value, list) or (length is not None and len(value) != length):
            kind = "a list" if length is None else f"a list of {length} values"
            raise self._wrong((name,), kind, value)
        return value

    def part(self, name: str) -> Options | None:
        """Returns an option that has options itself, or None if it is not given.

        Args:
            name: Name of the option.
        """
        value = self._first((name,), {})
        if not isinstance(value, Mapping):
            raise self._wrong((name,), "an object", value)
        return Options(value, f"{name} of {self.source}") if value else None

    def _first(self, names: Sequence[str], default: Any) -> Any:
        self.read.update(names)
        for name in names:
            value = self._values.get(name)
            if value is not None:
                return value
        if default is None:
            raise ModelFileError(f"{self.source} lacks the option {names[0]!r}")
        return default

    def _wrong(self, names: Sequence[str], expected: str, value: Any) -> ModelFileError:
        name = next((n for n in names if self._values.get(n) is not None), names[0])
        return ModelFileError(f"{name!r} of {self.source} must be {expected}, got {value!r}")


def _is_probability(name: object) -> bool:
    return isinstance(name, str) and _PROBABILITY.search(name) is not None


def read_json(path: Path) -> dict[str, Any]:
    """Reads a file in JSON that contains an object.

    Args:
        path: The file.

    Raises:
        ModelFileError: If it is not such a file, or cannot be read.
        FileNotFoundError: If it does not exist.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except OSError as error:  # such as a folder, or links in a circle
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a file in JSON: {error}") from error
    if not isinstance(value, dict):
        raise ModelFileError(f"{path} must contain an object, got {type(value).__name__}")
    return value


def read_options(path: Path) -> Options:
    """Reads ``config.json``.

    Args:
        path: The file, or the folder with it.
    """
    if path.is_dir():
        path = path / "config.json"
    return Options(read_json(path), str(path))


def architecture_name(options: Options) -> str:
    """Returns the name under which the architecture of a model is registered.

    It is the ``model_type``, or "timm/resnet50" for a file of timm, which has an ``architecture``
    such as "resnet50" or "resnet50.a1_in1k" (with the name of its training).

    Args:
        options: Options of a model.
    """
    if options.get("model_type") in (None, "timm_wrapper") and "architecture" in options:
        return "timm/" + options.text("architecture").partition(".")[0]
    return options.text("model_type")
