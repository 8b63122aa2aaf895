"""The layer between Python and the oneDNN library: loading, memory, layouts, primitives, threads.

Nothing here is public. Read it bottom up: ``declarations`` and ``library`` (the C functions),
``errors``, ``buffers`` (memory), ``layout`` (memory descriptors), ``runtime`` (engine, stream,
per-thread caches, fork), ``primitive`` (one compiled operation with its arguments), ``reorder``
(between layouts).
"""
