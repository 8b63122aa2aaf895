"""The core: variables, function nodes, backpropagation, configuration, plugin protocols."""
