"""Tests of a package: its metadata, the objects that it registers, its types.

::

    pytest --pyargs chainer.testing.certification.checks --chainer-package=NAME

``NAME`` is a plugin: its entry point, its distribution or its module.
"""
