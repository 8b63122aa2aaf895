"""Sections of docstrings that families of functions share."""

from __future__ import annotations

from chainer.core.utils.documentation import SharedSections

#: For functions of one floating-point array, element by element.
elementwise_sections = SharedSections(
    """
    Args:
        x (Variable or array): $x, of any shape, floating point.
    $more
    Returns:
        Variable: $y, of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating-point numbers.
    """,
    x="Input",
    y="Output",
    more="",
)

#: For elementwise functions that the NumPy backend takes from SciPy.
special_sections = SharedSections(
    """
    On the CPU it needs SciPy (``pip install "chainer[scipy]"``).

    Args:
        x (Variable or array): $x, of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.$limits

    Raises:
        InvalidType: If ``x`` is not of floating-point numbers.
        ImportError: If ``x`` is in host memory and SciPy is not installed.
    """,
    x="Input",
    limits="",
)

#: For elementwise functions that are constant between jumps.
gradientless_sections = SharedSections(
    """
    The gradient is zero almost everywhere; the result is not connected to the graph.

    Args:
        x (Variable or array): Input of any shape.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``x`` is neither a Variable nor an array.
    """
)
