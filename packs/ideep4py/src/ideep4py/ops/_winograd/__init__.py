"""Convolutions with 3x3 filters by Winograd's minimal filtering F(4x4, 3x3): 36 multiplications for
16 outputs, where the definition takes 144.

After A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks" (2016). The
transformations and the products between them are matrix products of oneDNN, and oneDNN's reorders
move the tiles: no Python code loops over elements.
"""
