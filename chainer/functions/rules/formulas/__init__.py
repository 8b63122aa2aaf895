"""Formulas: gradients of elementwise functions, traced once and differentiated as formulas.

The gradient of an elementwise function is an expression of arrays of one shape. Differentiating it
operator by operator needs several nodes of the graph for each order, and each of these nodes has a
gradient of several nodes. Here the expression is one node, and its gradient, another expression, is
one node as well:

- :mod:`.symbols`: expressions of symbols, simplified when they are made, and their derivatives;
- :mod:`.programs`: expressions as straight-line array code, with the programs of their gradients;
- :mod:`.tracing`: the program of a rule, found by running the rule on symbols once per class;
- :mod:`.nodes`: the nodes of the graph that run programs.
"""
