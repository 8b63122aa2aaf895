# Written by scripts/make_stubs.py. Do not edit.

from chainer.training.dataset.tabular import *
from chainer.training.dataset.tabular import (
    concat_view as concat_view,
    data_sources as data_sources,
    delegate_dataset as delegate_dataset,
    indexing as indexing,
    join_view as join_view,
    simple_views as simple_views,
    slice_view as slice_view,
    tabular_dataset as tabular_dataset,
    transform_views as transform_views,
)
