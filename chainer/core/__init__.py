"""The core: variables, function nodes, backpropagation, configuration, and the protocols plugins
implement.
"""
