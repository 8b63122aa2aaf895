"""Finds out why a plugin is not there, or not as its author meant it (``chainer doctor``)."""

from __future__ import annotations

from chainer.plugins.doctor.environment import examine_environment
from chainer.plugins.doctor.finding import Finding, Report
from chainer.plugins.doctor.installed import examine_plugin
from chainer.plugins.doctor.missing import examine_missing
from chainer.plugins.records import PluginRecord

__all__ = ["Finding", "Report", "examine_all", "examine_name"]


def examine_all(records: list[PluginRecord]) -> list[Report]:
    """Examines the environment and every plugin.

    Args:
        records: All plugins, loaded as far as they can be.

    Returns:
        list of Report: The environment first; of Chainer's own packs those with problems only.
    """
    reports = [examine_environment(records)]
    for record in records:
        report = examine_plugin(record, asked_for=False)
        if not record.builtin or not report.sound:
            reports.append(report)
    return reports


def examine_name(name: str, records: list[PluginRecord]) -> list[Report]:
    """Examines what a user calls by a name: plugins, or whatever it may be instead.

    Args:
        name: Name of an entry point, distribution, module or registered thing.
        records: All plugins, loaded as far as they can be.
    """
    named = [record for record in records if record.matches(name)]
    named = named or [record for record in records if _is_module_of(name, record)]
    if named:
        return [examine_plugin(record, asked_for=True) for record in named]
    return [examine_missing(name, records)]


def _is_module_of(name: str, record: PluginRecord) -> bool:
    module = record.target.partition(":")[0]
    return not record.builtin and name in (module, module.partition(".")[0])
