"""What an examination finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["ok", "note", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Attributes:
        level: ``'ok'``: as it should be; ``'note'``: worth knowing; ``'error'``: wrong.
        cause: What it is, in a word for programs, such as ``'import_error'``.
        text: What it is, for people.
        advice: What to do; may be empty.
        lines: Places in the author's code that took part, innermost last.
    """

    level: Level
    cause: str
    text: str
    advice: str = ""
    lines: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Returns the finding as plain values, for JSON."""
        return {
            "level": self.level,
            "cause": self.cause,
            "text": self.text,
            "advice": self.advice,
            "lines": list(self.lines),
        }


@dataclass
class Report:
    """The findings about one subject.

    Attributes:
        subject: A plugin, or another name, in words.
        findings: What was found.
    """

    subject: str
    findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.level != "error" for finding in self.findings)

    def add(self, finding: Finding) -> None:
        """Adds a finding."""
        self.findings.append(finding)

    def as_dict(self) -> dict[str, Any]:
        """Returns the report as plain values, for JSON."""
        return {
            "subject": self.subject,
            "sound": self.sound,
            "findings": [finding.as_dict() for finding in self.findings],
        }
