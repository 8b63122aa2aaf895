"""cuDNN through its Python front end: graphs, plans and the kernels made of them."""
