"""NumPy's functions on top of the standard's.

Each public function has NumPy's name and arguments, after the backend. Functions of NumPy that
convert, and functions of the namespace that do not exist here, are told apart in
:mod:`chainer_array_api.namespace`.
"""
