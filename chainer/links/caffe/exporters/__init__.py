"""Exporters of models to other frameworks (public module ``chainer.exporters``)."""
