"""``chainer rescue``: finds the models of an old project and writes them in other formats."""
