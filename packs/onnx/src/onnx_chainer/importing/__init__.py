"""Reads models of ONNX as links."""
