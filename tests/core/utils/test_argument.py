"""Arguments of older releases, and arguments read from ``**kwargs``."""

from __future__ import annotations

import inspect
import pickle
import warnings

import pytest

from chainer.core.utils.argument import (
    assert_kwargs_empty,
    check_unexpected_kwargs,
    parse_kwargs,
    removed_arguments,
    renamed_arguments,
)


@removed_arguments(train="train was removed. Use config", test="test was removed")
def scale(x: float, ratio: float = 0.5, *, shift: float = 0.0) -> float:
    """Scales."""
    return x * ratio + shift


class Scale:
    @removed_arguments(train="train was removed")
    def __init__(self, ratio: float, *, shift: float = 0.0) -> None:
        self.ratio, self.shift = ratio, shift

    @removed_arguments(test="test was removed")
    def __call__(self, x: float) -> float:
        return x * self.ratio + self.shift


@renamed_arguments(patients="patience", log_name="filename")
def stop(patience: int = 3, filename: str = "log") -> tuple[int, str]:
    return patience, filename


class TestRemovedArguments:
    def test_calls_without_removed_arguments(self) -> None:
        assert scale(4.0) == 2.0
        assert scale(4.0, 2.0) == 8.0
        assert scale(4.0, ratio=2.0, shift=1.0) == 9.0

    @pytest.mark.parametrize("value", [True, False, None])
    def test_removed_argument_raises_its_text(self, value: object) -> None:
        with pytest.raises(ValueError, match="^train was removed. Use config$"):
            scale(4.0, train=value)  # pyright: ignore[reportCallIssue]
        with pytest.raises(ValueError, match="^test was removed$"):
            scale(4.0, shift=1.0, test=value)  # pyright: ignore[reportCallIssue]

    def test_removed_argument_is_named_before_unknown_ones(self) -> None:
        with pytest.raises(ValueError, match="train was removed"):
            scale(4.0, other=1, train=True)  # pyright: ignore[reportCallIssue]

    def test_unknown_argument(self) -> None:
        with pytest.raises(TypeError, match=r"scale\(\) got an unexpected .* 'other'"):
            scale(4.0, other=1)  # pyright: ignore[reportCallIssue]

    def test_keyword_only_argument_by_position(self) -> None:
        with pytest.raises(TypeError, match="positional"):
            scale(4.0, 2.0, 1.0)  # pyright: ignore[reportCallIssue]

    def test_methods(self) -> None:
        assert Scale(2.0, shift=1.0)(3.0) == 7.0
        with pytest.raises(ValueError, match="train was removed"):
            Scale(2.0, train=True)  # pyright: ignore[reportCallIssue]
        with pytest.raises(ValueError, match="test was removed"):
            Scale(2.0)(3.0, test=True)  # pyright: ignore[reportCallIssue]

    def test_function_keeps_its_identity(self) -> None:
        assert str(inspect.signature(scale)).startswith("(x: 'float', ratio: 'float' = 0.5, *,")
        assert scale.__name__ == "scale"
        assert scale.__doc__ == "Scales."
        assert pickle.loads(pickle.dumps(scale)) is scale


class TestRenamedArguments:
    def test_new_names_do_not_warn(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert stop() == (3, "log")
            assert stop(5, "a") == (5, "a")
            assert stop(patience=5, filename="a") == (5, "a")

    def test_old_name_warns_at_the_call(self) -> None:
        with pytest.warns(
            DeprecationWarning, match="'patients' of stop.* Use 'patience'"
        ) as record:
            assert stop(patients=7) == (7, "log")  # pyright: ignore[reportCallIssue]
        assert record[0].filename == __file__

    def test_signature_shows_that_there_are_other_names(self) -> None:
        assert list(inspect.signature(stop).parameters) == ["patience", "filename", "old_names"]

    def test_two_old_names(self) -> None:
        with pytest.warns(DeprecationWarning, match=" of stop.. is deprecated") as record:
            assert stop(patients=7, log_name=None) == (7, None)  # pyright: ignore[reportCallIssue]
        assert len(record) == 2

    def test_both_names(self) -> None:
        with pytest.raises(TypeError, match="got 'patience' and its old name 'patients'"):
            stop(patience=1, patients=2)  # pyright: ignore[reportCallIssue]

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_position_and_old_name(self) -> None:
        with pytest.raises(TypeError, match="multiple values for argument 'patience'"):
            stop(1, patients=2)  # pyright: ignore[reportCallIssue]


class TestKwargs:
    def test_values_and_defaults(self) -> None:
        assert parse_kwargs({}, ("a", 1), ("b", 2)) == (1, 2)
        assert parse_kwargs({"b": 5}, ("a", 1), ("b", 2)) == (1, 5)

    def test_unknown_argument_names_the_caller(self) -> None:
        def caller(**kwargs: object) -> None:
            parse_kwargs(kwargs, ("a", 1))

        with pytest.raises(TypeError, match=r"caller\(\) got unexpected .* 'b', 'c'"):
            caller(c=1, b=2)

    def test_removed_argument(self) -> None:
        with pytest.raises(ValueError, match="^gone$"):
            parse_kwargs({"b": 1}, ("a", 1), b="gone")
        with pytest.raises(ValueError, match="^gone$"):
            check_unexpected_kwargs({"b": 1}, b="gone")
        check_unexpected_kwargs({"a": 1}, b="gone")

    def test_leftover_arguments(self) -> None:
        assert_kwargs_empty({})
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            assert_kwargs_empty({"a": 1})
