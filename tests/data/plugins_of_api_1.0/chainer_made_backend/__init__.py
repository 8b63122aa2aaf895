"""A backend for Chainer: the array type MadeBackendArray, on devices named @made_backend."""
