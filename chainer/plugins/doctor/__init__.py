"""Explains why a plugin is missing or does not work as its author expects (``chainer doctor``)."""

from __future__ import annotations

from chainer.plugins.doctor.installed import (
    Finding,
    Report,
    examine_environment,
    examine_plugin,
    where,
)
from chainer.plugins.doctor.missing import examine_missing
from chainer.plugins.records import PluginRecord

__all__ = ["Finding", "Report", "examine_all", "examine_name", "where"]


def examine_all(records: list[PluginRecord]) -> list[Report]:
    """Examines the environment and every plugin.

    Args:
        records: All plugins, loaded as far as they can be.

    Returns:
        list of Report: The environment first. Chainer's own plugins are listed only if something is
        wrong with them.
    """
    reports = [examine_environment(records)]
    for record in records:
        report = examine_plugin(record, asked_for=False)
        if not record.builtin or not report.sound:
            reports.append(report)
    return reports


def examine_name(name: str, records: list[PluginRecord]) -> list[Report]:
    """Examines the plugins of a name; if there are none, what else the name may refer to.

    Args:
        name: Name of an entry point, a distribution, a module or a registered object.
        records: All plugins, loaded as far as they can be.
    """
    named = [record for record in records if record.matches(name)]
    # Users know the module they import better than the name of its entry point.
    named = named or [record for record in records if _is_module_of(name, record)]
    if named:
        return [examine_plugin(record, asked_for=True) for record in named]
    return [examine_missing(name, records)]


def _is_module_of(name: str, record: PluginRecord) -> bool:
    module = record.target.partition(":")[0]
    return not record.builtin and name in (module, module.partition(".")[0])
