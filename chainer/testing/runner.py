"""Running the tests of one file."""

from __future__ import annotations

from chainer.core.installation import install_command


def run_module(name: str, file: str) -> None:
    """Runs the tests of a file when it is executed as a program.

    Put ``testing.run_module(__name__, __file__)`` at the end of a test file, and ``python
    test_x.py`` runs it.

    Args:
        name: ``__name__`` of the file.
        file: ``__file__`` of the file.

    Raises:
        SystemExit: With pytest's exit status, if ``name`` is ``'__main__'``.

    Example:
        >>> from chainer import testing
        >>> testing.run_module("test_x", "test_x.py")  # runs nothing: the file was imported
    """
    if name != "__main__":
        return
    try:
        import pytest
    except ImportError as error:
        raise ImportError(f"running tests needs pytest: {install_command('pytest')}") from error
    raise SystemExit(int(pytest.main([file, "-v"])))
