"""cuDNN through its Python front end: graphs, execution plans and kernels."""
