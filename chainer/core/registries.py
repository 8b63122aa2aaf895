"""TEMPORARY stand-in by the architect; the plugin-host helper REPLACES this file (keep: names, add_listener, load_all, get, register)."""
import importlib
from typing import Any
class Registry:
    def __init__(self, kind): self.kind=kind; self._e={}; self._l=[]
    def register(self, name, target, **kw): self._e[name]=target; [l(name) for l in self._l]
    def names(self): return list(self._e)
    def add_listener(self, f): self._l.append(f)
    def load_all(self): pass
    def get(self, name) -> Any:
        try: t=self._e[name]
        except KeyError: raise LookupError(name) from None
        if isinstance(t,str):
            m,_,a=t.partition(':'); t=getattr(importlib.import_module(m),a); self._e[name]=t
        return t
backends=Registry('backends'); kernels=Registry('kernels'); functions=Registry('functions'); operations=Registry('operations'); variable_methods=Registry('variable_methods')
backends.register('numpy','chainer.backends.numpy.backend:backend')
_M='chainer.functions.math.basic_math:'
for k,v in dict(__neg__='neg',__abs__='absolute',__add__='add',__radd__='radd' ,__sub__='sub',__rsub__='rsub',__mul__='mul',__rmul__='rmul',__truediv__='div',__rtruediv__='rdiv',__floordiv__='floordiv',__rfloordiv__='rfloordiv',__pow__='pow',__rpow__='rpow').items():
    variable_methods.register(k,_M+v)
