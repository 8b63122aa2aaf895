"""Benchmarks of training in several processes, against mpi4py alone and PyTorch with Gloo."""
