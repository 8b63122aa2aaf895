"""The conformance suite on the GPU, with the kernels that the configuration prefers by default."""

# ruff: noqa: F403
from chainer.testing.conformance.test_contract_arrays import *
from chainer.testing.conformance.test_contract_backend import *
from chainer.testing.conformance.test_contract_devices import *
from chainer.testing.conformance.test_contract_kernels import *
from chainer.testing.conformance.test_contract_training import *
from chainer.testing.conformance.test_contract_transfers import *
from chainer.testing.conformance.test_contract_variables import *
from chainer.testing.conformance.test_operations import *
from chainer.testing.conformance.test_transforms import *
