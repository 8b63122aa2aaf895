"""Writes models as source text for PyTorch, by way of their graph in ONNX."""
