"""Examines the environment and the plugins that Chainer found in it."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import os
import platform
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import pluggy

import chainer
from chainer.core.arrays import acceleration
from chainer.core.arrays.backend import get_backend
from chainer.core.arrays.backend_status import backend_status
from chainer.core.arrays.capabilities import Limitations, describe
from chainer.core.arrays.kernel import KernelDeclaration
from chainer.core.config.blas_threads import slow_core_advice, slow_threads_advice
from chainer.core.config.configuration import threads
from chainer.core.installation import install_command
from chainer.core.lazy import resolve
from chainer.core.misuse import similar
from chainer.core.registry import registries
from chainer.core.registry.registry import Entry, Registry
from chainer.core.registry.requirements import describe_error
from chainer.core.version import __version__
from chainer.plugins import environment
from chainer.plugins.discovery import GROUP, normalize
from chainer.plugins.errors import (
    IncompatiblePluginError,
    PluginError,
    SharedModuleError,
    UnknownHookError,
)
from chainer.plugins.kernel_settings import code_problem, setting
from chainer.plugins.module_names import imported_file, own_file
from chainer.plugins.records import PluginRecord

#: Two names with this similarity (0 to 1) or more count as one name, misspelled.
SIMILAR = 0.75

#: Names of one kind that a report about all plugins shows of each.
MAX_NAMES = 8

_OWN = os.path.dirname(chainer.__file__)
#: Code that imports plugins and calls their hooks. Its lines do not help the author of a plugin.
_MACHINERY = (
    os.path.join(_OWN, "plugins") + os.sep,
    os.path.join(_OWN, "core", "registry") + os.sep,
    os.path.join(_OWN, "core", "lazy.py"),
    os.path.join(_OWN, "core", "imports.py"),
    os.path.dirname(pluggy.__file__) + os.sep,
    os.path.dirname(importlib.__file__) + os.sep,
    "<frozen importlib",
)

#: Kinds of registries that are modules below ``chainer.training``, and kinds that are not modules.
_TRAINING = ("updaters", "extensions", "triggers")
_WITHOUT_MODULE = ("backends", "operations", "kernels", "variable_methods")


Level = Literal["ok", "note", "error"]


@dataclass(frozen=True)
class Finding:
    """A result of an examination.

    Attributes:
        level: ``'ok'``, ``'note'`` (worth knowing) or ``'error'``.
        cause: The finding as a word for programs, such as ``'import_error'``.
        text: The finding as text for people.
        advice: The remedy; may be empty.
        lines: Lines of the author's code in the traceback, innermost last.
    """

    level: Level
    cause: str
    text: str
    advice: str = ""
    lines: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Returns the finding as a dictionary for JSON."""
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
        subject: The examined object: a plugin, the environment or a name.
        findings: The findings.
    """

    subject: str
    findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def sound(self) -> bool:
        """Whether there is no error."""
        return all(finding.level != "error" for finding in self.findings)

    def add(self, finding: Finding) -> None:
        """Adds a finding.

        Args:
            finding: The finding.
        """
        self.findings.append(finding)

    def as_dict(self) -> dict[str, Any]:
        """Returns the report as a dictionary for JSON."""
        return {
            "subject": self.subject,
            "sound": self.sound,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def where() -> str:
    """Returns a line with the versions and places of Python and Chainer."""
    folder = os.path.dirname(chainer.__file__)
    return (
        f"Python {platform.python_version()} ({sys.executable}), Chainer {__version__} ({folder})"
    )


def examine_environment(records: list[PluginRecord]) -> Report:
    """Examines the environment: variables, distributions, backends.

    Args:
        records: All plugins.
    """
    report = Report("environment")
    report.add(Finding("ok", "environment", where()))
    _examine_variables(records, report)
    _examine_chainer(report)
    _examine_groups(report)
    _examine_backends(report)
    policy = threads.state.policy
    report.add(Finding("note", "accelerate", f"accelerate: {acceleration.advice(policy)}"))
    for name, advice in (
        ("blas_threads", slow_threads_advice()),
        ("blas_core", slow_core_advice()),
    ):
        if advice is not None:
            report.add(Finding("note", name, advice))
    return report


def _examine_variables(records: list[PluginRecord], report: Report) -> None:
    for variable in (environment.DISABLE, environment.ENABLE):
        for name in environment.names(variable):
            if not any(record.matches(name) for record in records):
                near = difflib.get_close_matches(name, known_names(records), n=1)
                advice = f"did you mean {near[0]!r}?" if near else ""
                text = f"{variable} names {name!r}, and no plugin of that name is installed"
                report.add(Finding("error", "unknown_plugin", text, advice))
    # Keys of kernels are "operation/provider/array type".
    providers = {key.split("/")[1] for key in registries.kernels.names() if key.count("/") >= 2}
    for name in filter(None, os.environ.get("CHAINER_KERNELS", "").replace(",", " ").split()):
        if name not in providers:
            near = difflib.get_close_matches(name, providers, n=1)
            advice = f"did you mean {near[0]!r}?" if near else ""
            text = f"CHAINER_KERNELS names {name!r}, and there is no kernel provider of that name"
            report.add(Finding("error", "unknown_provider", text, advice))


def _examine_chainer(report: Report) -> None:
    found = list(dict.fromkeys(dist.version for dist in distributions("chainer")))
    if not found:
        text = "Chainer itself is not installed, it is imported from a folder on the path"
        report.add(Finding("note", "chainer_not_installed", text))
    # An editable installation whose version has changed since it was made. Everything works, but
    # pip compares what other distributions require with the old version.
    elif found[0] != __version__:
        text = f"the metadata on the path are of chainer {found[0]}, the code is of {__version__}"
        command = install_command("chainer")
        report.add(Finding("note", "stale_chainer", text, f"install it again: {command}"))


def _examine_groups(report: Report) -> None:
    # Of several copies of a distribution, the first is the one that Python imports.
    for dist in (copies[0] for copies in _distributions().values()):
        group = wrong_group(dist)
        if group is not None:
            report.add(group_finding(dist, group))


def _examine_backends(report: Report) -> None:
    for entry in registries.backends.entries():
        status = backend_status(entry.name)
        if status.backend is None:
            continue  # reported as a finding about the plugin that registered it
        if status.reason is None:
            continue
        text = f"backend {entry.name!r} is not available: {status.reason}"
        if "of chainer " in entry.origin:
            report.add(Finding("note", "backend_unavailable", text))


def known_names(records: list[PluginRecord]) -> list[str]:
    """Returns the names that :func:`examine_name` accepts.

    Args:
        records: All plugins.
    """
    distributions = {record.distribution for record in records if not record.builtin}
    return sorted({record.name for record in records} | distributions - {""})


def distributions(name: str) -> list[importlib.metadata.Distribution]:
    """Returns the installed distributions of a name, in the order of the path.

    Args:
        name: Name of the distribution.
    """
    return _distributions().get(normalize(name), [])


# Several examinations need the metadata of all distributions, and reading them is slow.
@functools.cache
def _distributions() -> dict[str, list[importlib.metadata.Distribution]]:
    found: dict[str, list[importlib.metadata.Distribution]] = {}
    for dist in importlib.metadata.distributions():
        found.setdefault(normalize(dist.metadata["Name"] or ""), []).append(dist)
    return found


def wrong_group(dist: importlib.metadata.Distribution) -> str | None:
    """Returns an entry point group that may be a misspelled ``chainer``, if there is no right one.

    Args:
        dist: The distribution.
    """
    groups = {entry.group for entry in dist.entry_points}
    if GROUP in groups:
        return None
    for group in sorted(groups):
        # "Chainer.plugins" and "chainer-plugins" count as well.
        start = group.lower().replace("_", "-").partition(".")[0].partition("-")[0]
        if difflib.SequenceMatcher(None, start, GROUP).ratio() >= SIMILAR:
            return group
    return None


def group_finding(dist: importlib.metadata.Distribution, group: str) -> Finding:
    """Returns the finding about a misspelled group.

    Args:
        dist: The distribution.
        group: Name of the group.
    """
    text = (
        f"{dist.metadata['Name']} {dist.version} has entry points in group {group!r}; Chainer "
        f"looks in group {GROUP!r}"
    )
    advice = f"write [project.entry-points.{GROUP}] in its pyproject.toml and install it again"
    return Finding("error", "wrong_group", text, advice)


def examine_plugin(record: PluginRecord, *, asked_for: bool) -> Report:
    """Examines a plugin and everything that it registers.

    Args:
        record: The plugin, loaded if that is possible.
        asked_for: Whether the user named it. Then it is an error if it is blocked.
    """
    report = Report(str(record.provenance))
    if record.state == "blocked":
        report.add(_blocked(record, asked_for))
    elif record.error is not None:
        report.add(_failure(record, record.error))
    else:
        seconds = record.seconds or 0
        text = f"loaded in {seconds * 1e3:.1f} ms from {record.target!r} ({record.location})"
        report.add(Finding("ok", "loaded", text))
        try:
            _examine_copies(record, report)
            _examine_module(record, report)
            _examine_entries(record, report, asked_for)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # what a plugin registers may fail in any way
            text = f"its objects cannot be examined: {describe_error(error)}"
            report.add(Finding("error", "plugin_error", text, "", author_lines(error)))
    return report


def _blocked(record: PluginRecord, asked_for: bool) -> Finding:
    variable = environment.DISABLE
    advice = (
        f"remove {record.name!r} or {record.distribution!r} from that environment variable"
        if record.blocked_by == variable
        else f"chainer.plugins.load({record.name!r}) loads it again"
    )
    level = "error" if asked_for else "note"
    return Finding(level, "blocked", f"blocked by {record.blocked_by}; it was not imported", advice)


def _failure(record: PluginRecord, error: BaseException) -> Finding:
    text = describe_error(error)
    lines = author_lines(error)
    if isinstance(error, IncompatiblePluginError):
        advice = "the line 'chainer_api = ...' of its pack declares the version it was written for"
        return Finding("error", "api_version", str(error), advice)
    if isinstance(error, UnknownHookError):
        advice = (
            f"rename the function in {record.target!r}; the name of a function that "
            "is not a hook must not begin with 'chainer_'"
        )
        return Finding("error", "unknown_hook", str(error), advice)
    if isinstance(error, SharedModuleError):
        return Finding("error", "shared_module", str(error))
    if isinstance(error, PluginError) and record.plugin is None and record.seconds is None:
        advice = (
            'write it as name = "package.module" in [project.entry-points.chainer], install again'
        )
        return Finding("error", "malformed_entry_point", str(error), advice)
    if isinstance(error, ModuleNotFoundError):
        return _module_not_found(record, error, text, lines)
    if record.plugin is not None:
        advice = "one of its hooks failed; nothing it registers is used"
        return Finding("error", "hook_error", text, advice, lines)
    if isinstance(error, AttributeError) and ":" in record.target:
        advice = (
            f"the entry point {record.target!r} names an attribute that the module does not have"
        )
        return Finding("error", "import_error", text, advice, lines)
    module = record.target.partition(":")[0]
    advice = f"`python -c 'import {module}'` shows the whole traceback"
    return Finding("error", "import_error", text, advice, lines)


def _module_not_found(
    record: PluginRecord, error: ModuleNotFoundError, text: str, lines: tuple[str, ...]
) -> Finding:
    missing = error.name or ""
    module = record.target.partition(":")[0]
    if (module + ".").startswith(missing + "."):
        advice = (
            f"the entry point is {record.target!r}: check its spelling, and that the distribution "
            "contains the module (for hatchling: packages in [tool.hatch.build.targets.wheel]); "
            "then install again"
        )
        return Finding("error", "no_such_module", text, advice, lines)
    if missing.partition(".")[0] == module.partition(".")[0]:
        advice = f"the distribution does not contain its own module {missing!r}"
        return Finding("error", "no_such_module", text, advice, lines)
    advice = (
        f"it needs {missing.partition('.')[0]!r}: install that here, and name it in the "
        f"dependencies of {record.distribution}"
    )
    return Finding("error", "missing_dependency", text, advice, lines)


def _examine_entries(record: PluginRecord, report: Report, asked_for: bool) -> None:
    for conflict in record.conflicts:
        advice = "choose another name, or uninstall one of the two"
        report.add(Finding("error", "name_conflict", str(conflict), advice))
    if not record.entries and not record.conflicts and not record.refused:
        report.add(_registers_nothing(record))
    elif record.event_hooks() and not record.enabled:
        report.add(_listens(record))
    for item in record.refused:
        name = f"{item.registry.singular} {item.entry.name!r}"
        text = f"{name} is registered with override=True; it is used only if the plugin is enabled"
        report.add(Finding("note", "override_refused", text, _how_to_enable(record)))
    for registry, entry in record.entries:
        old = registry.replaced(entry.name)
        if old is not None and registry.find(entry.name) is entry:
            text = f"{registry.singular} {entry.name!r} replaces the one of {old.origin}"
            report.add(Finding("note", "overrides", text))
    for kind in dict.fromkeys(registry.kind for registry, _ in record.entries):
        pairs = [(reg, entry) for reg, entry in record.entries if reg.kind == kind]
        # A report about all plugins must stay readable: one pack may register hundreds of names.
        shown = pairs if asked_for or len(pairs) <= MAX_NAMES + 1 else pairs[:MAX_NAMES]
        names = ", ".join(public_name(kind, entry.name) for _, entry in shown)
        if len(shown) < len(pairs):
            rest = len(pairs) - len(shown)
            names += f" and {rest} more (chainer doctor {record.name} shows all)"
        registry = pairs[0][0]
        noun = registry.singular if len(pairs) == 1 else kind.replace("_", " ")
        report.add(Finding("ok", "registered", f"registered {len(pairs)} {noun}: {names}"))
        for reg, entry in pairs:
            _examine_entry(record, reg, entry, report)
    _examine_kernels(record, report)


def _examine_copies(record: PluginRecord, report: Report) -> None:
    for copy in distributions(record.distribution)[1:]:
        folder = copy.locate_file("")
        text = f"another copy, {record.distribution} {copy.version} in {folder}, is hidden by it"
        report.add(Finding("note", "hidden_copy", text, "uninstall the one you do not use"))


def _examine_module(record: PluginRecord, report: Report) -> None:
    """Tells if the module comes from a folder before the one where the plugin is installed."""
    expected = own_file(record)
    file = imported_file(record.target.partition(":")[0], sys.path)
    if expected is not None and file is not None and not _are_same(expected, file):
        text = f"its module was imported from {file}, and not from {expected}"
        advice = "rename or remove that file, unless this is what you want"
        report.add(Finding("note", "hidden_module", text, advice))


def _are_same(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


def _how_to_enable(record: PluginRecord) -> str:
    return f"chainer.plugins.enable({record.name!r}) or {environment.ENABLE}={record.name}"


def _listens(record: PluginRecord) -> Finding:
    start = "" if record.entries or record.refused else "registers no names; "
    text = f"{start}it listens to {', '.join(record.event_hooks())}"
    if record.enabled:
        return Finding("ok", "listens", text)
    advice = f"its hooks are called if it is enabled: {_how_to_enable(record)}"
    return Finding("note", "listens", f"{text}, and is not enabled", advice)


def _registers_nothing(record: PluginRecord) -> Finding:
    if record.event_hooks():
        return _listens(record)
    advice = (
        f"define functions such as `def chainer_functions(registry)` in {record.target!r}; "
        "chainer.plugins.hookspecs lists them"
    )
    return Finding("error", "registers_nothing", "loaded, but it registers nothing", advice)


def _examine_entry(record: PluginRecord, registry: Registry, entry: Entry, report: Report) -> None:
    name = f"{registry.singular} {entry.name!r}"
    owner = registry.find(entry.name)
    if owner is not None and owner is not entry:
        text = f"{name} was replaced by {owner.origin}, on purpose (override=True)"
        report.add(Finding("note", "overridden", text))
    try:
        entry.load()
    except ImportError as error:
        cause = error.__cause__ or error
        text = f"{name} is registered as {entry.text}, which fails: {describe_error(cause)}"
        advice = _advice_on_target(record, entry, cause)
        report.add(Finding("error", "target_error", text, advice, author_lines(cause)))
        return
    except SystemExit as error:
        text = f"{name} is registered as {entry.text}, whose module calls sys.exit({error.code!r})"
        report.add(Finding("error", "target_error", text, "", author_lines(error)))
        return
    if registry.kind == "backends":
        add_backend(entry.name, report)


def add_backend(name: str, report: Report) -> None:
    """Adds whether a backend is available, and what it declares that its arrays cannot do.

    Args:
        name: Its registered name.
        report: The report to add to.
    """
    reason = backend_status(name).reason
    if reason is not None:
        text = f"backend {name!r} is not available: {reason}"
        failed = " in the code of " in reason
        cause = "backend_error" if failed else "backend_unavailable"
        report.add(Finding("error" if failed else "note", cause, text))
    else:
        _add_limitations(f"backend {name!r}", get_backend(name).limitations, report)


def _add_limitations(owner: str, limitations: Limitations, report: Report) -> None:
    for line in describe(limitations):
        report.add(Finding("note", "limitation", f"{owner} declares: {line}"))


def _advice_on_target(record: PluginRecord, entry: Entry, error: BaseException) -> str:
    module = str(entry.target).partition(":")[0]
    missing = getattr(error, "name", None) or ""
    if isinstance(error, ModuleNotFoundError) and not (module + ".").startswith(missing + "."):
        return (
            f"it needs {missing.partition('.')[0]!r}: install that here, and name it in the "
            f"dependencies of {record.distribution}"
        )
    if isinstance(error, (ModuleNotFoundError, AttributeError)):
        return f"check what {record.target!r} registers: it must read 'module:attribute'"
    return ""


def _examine_kernels(record: PluginRecord, report: Report) -> None:
    kernels: list[KernelDeclaration] = [
        entry.load() for registry, entry in record.entries if registry is registries.kernels
    ]
    for provider in dict.fromkeys(kernel.provider for kernel in kernels):
        own = [kernel for kernel in kernels if kernel.provider == provider]
        if all(setting(kernel) == "never" for kernel in own):
            switch = threads.state.policy.switch_of(provider)
            advice = (
                f"enable them with chainer.config.kernels = ({provider!r},) or "
                f"CHAINER_KERNELS={provider}"
                if switch is None
                else f"enable them with chainer.config.{switch} = 'auto'"
            )
            text = f"the kernels of provider {provider!r} are not enabled"
            report.add(Finding("note", "kernels_not_enabled", text, advice))
        reasons = dict.fromkeys(_missing_library(kernel, report) for kernel in own)
        for reason in filter(None, reasons):
            text = f"kernels of provider {provider!r} are not available: {reason}"
            report.add(Finding("note", "kernels_unavailable", text))
        for kernel in own:
            _add_limitations(f"kernel {kernel.key!r}", kernel.limitations, report)
        known = registries.operations.names()
        for operation in dict.fromkeys(kernel.operation for kernel in own):
            if operation not in known:
                report.add(_of_unknown_operation(operation, known))


def _missing_library(kernel: KernelDeclaration, report: Report) -> str | None:
    """Returns what the provider says that is missing; reports faults of the kernel itself."""
    problem: str | None
    try:
        reason = resolve(kernel.unavailable)()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the code of a plugin; it must not end the command
        reason = None
        problem = f"{kernel.unavailable!r}, which says what is missing, fails: "
        problem += describe_error(error)
    else:
        problem = None if reason else code_problem(kernel)
    if problem is not None:
        report.add(Finding("error", "kernel_error", f"kernel {kernel.key!r}: {problem}"))
    return reason


def _of_unknown_operation(operation: str, known: Iterable[str]) -> Finding:
    """Returns the finding of a kernel whose operation no installed distribution has."""
    text = f"there is no operation {operation!r}; the kernel for it is never used"
    meant = similar(operation, known)
    if meant is not None:
        return Finding("error", "unknown_operation", text, f"did you mean {meant!r}?")
    # chainer-numba has a kernel for an operation of chainer-models, which may be missing.
    advice = "it may belong to a distribution that is not installed; chainer kernels lists all"
    return Finding("note", "operation_not_installed", text, advice)


def public_name(kind: str, name: str) -> str:
    """Returns how a program writes a registered name: ``'chainer.functions.relu'``.

    Args:
        kind: Kind of the registry.
        name: The name.
    """
    if kind == "backends":
        return f"@{name}"
    if kind in _WITHOUT_MODULE:
        return name
    return f"chainer.training.{kind}.{name}" if kind in _TRAINING else f"chainer.{kind}.{name}"


def author_lines(error: BaseException) -> tuple[str, ...]:
    """Returns the lines of a traceback, without lines of the plugin host and the import system.

    Args:
        error: The exception.

    Returns:
        tuple of str: ``'file:line in function: code'``, the innermost last.
    """
    lines = [
        f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line or ''}".rstrip(": ")
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_MACHINERY)
    ]
    if isinstance(error, SyntaxError) and error.filename:
        code = (error.text or "").strip()
        lines.append(f"{error.filename}:{error.lineno}: {code}".rstrip(": "))
    return tuple(lines)
