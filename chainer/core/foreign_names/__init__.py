"""Names of PyTorch and Keras, and the names that Chainer has for the same things."""

from chainer.core.foreign_names.hints import (
    CheckedKeywords,
    ForeignAttribute,
    add_foreign_attributes,
    check_keywords,
    explain_call_error,
    keyword_hint,
    name_hint,
)
from chainer.core.foreign_names.tables import ATTRIBUTES, KEYWORDS, NAMES

__all__ = [
    "ATTRIBUTES",
    "KEYWORDS",
    "NAMES",
    "CheckedKeywords",
    "ForeignAttribute",
    "add_foreign_attributes",
    "check_keywords",
    "explain_call_error",
    "keyword_hint",
    "name_hint",
]
