"""Examines a plugin that Chainer has found."""

from __future__ import annotations

from chainer.core.arrays.kernel import KernelDeclaration
from chainer.core.lazy import resolve
from chainer.core.registry import registries
from chainer.core.registry.registry import Entry, Registry
from chainer.plugins import environment
from chainer.plugins.doctor.environment import distributions
from chainer.plugins.doctor.finding import Finding, Report
from chainer.plugins.doctor.tracebacks import author_lines
from chainer.plugins.errors import IncompatiblePluginError, PluginError, UnknownHookError
from chainer.plugins.kernel_settings import setting
from chainer.plugins.records import PluginRecord

_TRAINING = ("updaters", "extensions", "triggers")
_WITHOUT_MODULE = ("backends", "operations", "kernels", "variable_methods")


def examine_plugin(record: PluginRecord, *, asked_for: bool) -> Report:
    """Says what became of a plugin and of what it registers.

    Args:
        record: The plugin, loaded as far as it can be.
        asked_for: Whether the user named it. That it is switched off is wrong then.
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
        _examine_copies(record, report)
        _examine_entries(record, report)
    return report


def _blocked(record: PluginRecord, asked_for: bool) -> Finding:
    variable = environment.DISABLE
    advice = (
        f"take {record.name!r} or {record.distribution!r} out of that variable of the environment"
        if record.blocked_by == variable
        else f"chainer.plugins.load({record.name!r}) loads it again"
    )
    level = "error" if asked_for else "note"
    return Finding(level, "blocked", f"blocked by {record.blocked_by}; it was not imported", advice)


def _failure(record: PluginRecord, error: Exception) -> Finding:
    text = f"{type(error).__name__}: {error}"
    lines = author_lines(error)
    if isinstance(error, IncompatiblePluginError):
        advice = "the line 'chainer_api = ...' of its pack says for which version it was written"
        return Finding("error", "api_version", str(error), advice)
    if isinstance(error, UnknownHookError):
        advice = (
            f"rename the function in {record.target!r}; one that is no hook must not begin with "
            "'chainer_'"
        )
        return Finding("error", "unknown_hook", str(error), advice)
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
        advice = f"the entry point {record.target!r} names something the module does not have"
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


def _examine_entries(record: PluginRecord, report: Report) -> None:
    for conflict in record.conflicts:
        advice = "choose another name, or uninstall one of the two"
        report.add(Finding("error", "name_conflict", str(conflict), advice))
    if not record.entries and not record.conflicts:
        report.add(_registers_nothing(record))
    for kind in dict.fromkeys(registry.kind for registry, _ in record.entries):
        pairs = [(reg, entry) for reg, entry in record.entries if reg.kind == kind]
        names = ", ".join(public_name(kind, entry.name) for _, entry in pairs)
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
        report.add(Finding("note", "hidden_copy", text, "uninstall the one you do not mean"))


def _registers_nothing(record: PluginRecord) -> Finding:
    hooks = [name for name in dir(record.plugin) if name.startswith("chainer_trainer_")]
    if hooks:
        text = f"registers no names; it listens to {', '.join(sorted(hooks))}"
        advice = (
            f"it is called if chainer.plugins.load({record.name!r}) or {environment.ENABLE} asks"
        )
        return Finding("note", "listens", text, advice)
    advice = (
        f"define functions such as `def chainer_functions(registry)` in {record.target!r}; "
        "chainer.plugins.hookspecs lists them"
    )
    return Finding("error", "registers_nothing", "loaded, but it registers nothing", advice)


def _examine_entry(record: PluginRecord, registry: Registry, entry: Entry, report: Report) -> None:
    name = f"{registry.singular} {entry.name!r}"
    owner = registry.find(entry.name)
    if owner is not None and owner is not entry:
        text = f"{name} was taken over by {owner.origin}, on purpose (override=True)"
        report.add(Finding("note", "overridden", text))
    try:
        value = entry.load()
    except ImportError as error:
        cause = error.__cause__ or error
        text = f"{name} is registered as {entry.text}, which fails: {type(cause).__name__}: {cause}"
        advice = _advice_on_target(record, entry, cause)
        report.add(Finding("error", "target_error", text, advice, author_lines(cause)))
        return
    except SystemExit as error:
        text = f"{name} is registered as {entry.text}, whose module calls sys.exit({error.code!r})"
        report.add(Finding("error", "target_error", text, "", author_lines(error)))
        return
    if registry.kind == "backends":
        reason = value.unavailable_reason()
        if reason is not None:
            text = f"backend {entry.name!r} is not available: {reason}"
            report.add(Finding("note", "backend_unavailable", text))


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
            advice = (
                f"chainer.config.use_{provider} = 'auto' lets them serve"
                if provider in ("cudnn", "ideep")
                else f"chainer.config.kernels = ({provider!r},) or CHAINER_KERNELS={provider} does"
            )
            text = f"the kernels of provider {provider!r} are used only by those who enable them"
            report.add(Finding("note", "kernels_not_enabled", text, advice))
        reasons = dict.fromkeys(resolve(kernel.unavailable)() for kernel in own)
        for reason in filter(None, reasons):
            text = f"kernels of provider {provider!r} are not available: {reason}"
            report.add(Finding("note", "kernels_unavailable", text))
        known = registries.operations.names()
        for operation in dict.fromkeys(kernel.operation for kernel in own):
            if operation not in known:
                text = f"there is no operation {operation!r}: its kernel is never used"
                advice = "chainer kernels lists the operations"
                report.add(Finding("error", "unknown_operation", text, advice))


def public_name(kind: str, name: str) -> str:
    """Returns how a user writes a registered name: ``'chainer.functions.relu'``.

    Args:
        kind: Kind of the registry.
        name: The name.
    """
    if kind == "backends":
        return f"@{name}"
    if kind in _WITHOUT_MODULE:
        return name
    return f"chainer.training.{kind}.{name}" if kind in _TRAINING else f"chainer.{kind}.{name}"
