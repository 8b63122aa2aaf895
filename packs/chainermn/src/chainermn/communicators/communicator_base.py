"""The interface of communicators."""

from __future__ import annotations

import contextlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from chainer.utils.argument import require_attribute

if TYPE_CHECKING:
    from chainer import Link
    from chainer.typing import Array, ArrayLike


class Request(Protocol):
    """A communication that was started."""

    def test(self) -> bool:
        """Lets the communication make progress and returns whether it is complete."""
        ...

    def wait(self) -> None:
        """Waits until the communication is complete."""
        ...


class CompletedRequest:
    """The request of a communication that was made at once."""

    def test(self) -> bool:
        """Returns True."""
        return True

    def wait(self) -> None:
        """Does nothing."""


class CommunicatorBase(ABC):
    """Connection of the processes of a program, each of which has a rank.

    Most methods are *collective*: all processes of the communicator must call them, in the same
    order, with compatible arguments. A process that does not lets the others wait forever. Methods
    for arrays take NumPy and CuPy arrays of any shape, of dtype int32, int64, float16, float32 or
    float64. Those whose names end in ``_obj`` take any object that can be pickled.

    A subclass defines the abstract methods. The other methods are made of them; a subclass may
    define them in a faster way.
    """

    def __init__(self) -> None:
        self._configs: dict[str, Any] = {}
        self._within_config_scope = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # A connection cannot be copied. Copies of links share it.
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"{type(self).__name__} cannot be pickled: it is a connection of processes")

    # -- ranks ------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """Rank of this process, from 0 to ``size - 1``."""
        raise NotImplementedError(f"{type(self).__name__} must define rank")

    @property
    def size(self) -> int:
        """Number of processes."""
        raise NotImplementedError(f"{type(self).__name__} must define size")

    @property
    def intra_rank(self) -> int:
        """Place of this process among the processes of its host; the number of its GPU, usually."""
        raise NotImplementedError(f"{type(self).__name__} must define intra_rank")

    @property
    def intra_size(self) -> int:
        """Number of processes on this host."""
        raise NotImplementedError(f"{type(self).__name__} must define intra_size")

    @property
    def inter_rank(self) -> int:
        """Number of this host; hosts are in the order of their lowest ranks."""
        raise NotImplementedError(f"{type(self).__name__} must define inter_rank")

    @property
    def inter_size(self) -> int:
        """Number of hosts."""
        raise NotImplementedError(f"{type(self).__name__} must define inter_size")

    # -- configuration ----------------------------------------------------------------------------

    def set_config(self, name: str, value: ArrayLike = True) -> None:
        """Sets an entry of the configuration.

        Args:
            name (str): Name of the entry.
            value: Its value.

        Raises:
            ValueError: If the communicator has no entry of this name, or cannot take the value.
        """
        known = ", ".join(self._configs) or "none"
        raise ValueError(f"unknown configuration {name!r} of {type(self).__name__}; has: {known}")

    def get_config(self, name: str | None = None) -> Any:
        """Returns an entry of the configuration, or the dictionary of all entries.

        Args:
            name (str): Name of the entry; None for all.

        Raises:
            KeyError: If there is no entry of this name.
        """
        if name is None:
            return dict(self._configs)
        return self._configs[name]

    @contextlib.contextmanager
    def config_scope(self) -> Iterator[None]:
        """Attributes that are assigned within this ``with`` statement become configuration."""
        before = self.__dict__.get("_within_config_scope", False)
        self._within_config_scope = True
        try:
            yield
        finally:
            self._within_config_scope = before

    @property
    def within_config_scope(self) -> bool:
        """Whether a ``with comm.config_scope()`` is active."""
        return self.__dict__.get("_within_config_scope", False)

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        if self.__dict__.get("_within_config_scope", False) and not name.startswith("_"):
            self._configs[name] = value
        super().__setattr__(name, value)

    # -- arrays -----------------------------------------------------------------------------------

    @abstractmethod
    def split(self, color: int, key: int) -> CommunicatorBase:
        """Makes communicators of parts of the processes. Collective.

        Args:
            color (int): Processes with the same color get a communicator together.
            key (int): The new ranks are in the order of the keys; of the old ranks where keys are
                equal.

        Returns:
            CommunicatorBase: Communicator of the same class and configuration.
        """

    @abstractmethod
    def alltoall(self, xs: Sequence[Array]) -> tuple[Array, ...]:
        """Sends an array to each process and receives one from each. Collective.

        Args:
            xs (tuple of arrays): The array at index ``i`` goes to rank ``i``. Shapes may differ.

        Returns:
            tuple of arrays: The array at index ``i`` comes from rank ``i``.

        Raises:
            ValueError: If ``xs`` does not have as many arrays as there are processes.
            TypeError: If dtypes differ.
        """

    @abstractmethod
    def send(self, data: Array | Sequence[Array], dest: int, tag: int) -> None:
        """Sends an array, or a tuple of arrays, to one process, which has to call :meth:`recv`.

        Args:
            data (array or tuple of arrays): Arrays of one dtype; shapes may differ.
            dest (int): Rank of the receiver.
            tag (int): Number that the receiver gives as well.
        """

    def start_send(self, data: Array | Sequence[Array], dest: int, tag: int) -> Request:
        """Starts :meth:`send`; the arrays must be left alone until the request is complete.

        Here they are sent at once, which waits for the receiver.

        Args:
            data (array or tuple of arrays): See :meth:`send`.
            dest (int): Rank of the receiver.
            tag (int): Number that the receiver gives as well.
        """
        self.send(data, dest, tag)
        return CompletedRequest()

    @abstractmethod
    def recv(self, source: int, tag: int) -> Any:
        """Receives what another process sends by :meth:`send`.

        Args:
            source (int): Rank of the sender.
            tag (int): Number that the sender gives as well.

        Returns:
            array or tuple of arrays: A tuple if a tuple or list was sent.
        """

    @abstractmethod
    def bcast(self, data: Array | None, root: int = 0, *, max_buf_len: int | None = None) -> Array:
        """Gives an array of one process to all. Collective.

        Args:
            data (array): At the root, the array. The values of other ranks are ignored.
            root (int): Rank of the process that has the array.
            max_buf_len (int): Has no effect.

        Returns:
            array: ``data`` itself at the root, a new array elsewhere.
        """

    @abstractmethod
    def gather(self, data: Array, root: int = 0) -> tuple[Array, ...] | None:
        """Collects an array of each process at one of them. Collective.

        Args:
            data (array): Array of this process. Shapes may differ, dtypes may not.
            root (int): Rank of the process that gets the arrays.

        Returns:
            tuple of arrays: At the root, the arrays in order of the ranks; None elsewhere.
        """

    @abstractmethod
    def allgather(self, x: Array) -> tuple[Array, ...]:
        """Collects an array of each process at all of them. Collective.

        Args:
            x (array): Array of this process. Shapes may differ, dtypes may not.

        Returns:
            tuple of arrays: The arrays in order of the ranks.
        """

    @abstractmethod
    def allreduce(self, data: Array) -> Array:
        """Adds up arrays of all processes. Collective.

        Args:
            data (array): Array of the same shape and dtype in all processes. float16 is added in
                float32 and rounded once.

        Returns:
            array: The sum, a new array of the same dtype.
        """

    @abstractmethod
    def scatter(self, xs: Sequence[Array] | Array | None, root: int = 0) -> Array:
        """Gives each process an array of one of them. Collective.

        Args:
            xs (tuple of arrays or array): At the root, one array for each process, or an array
                whose first axis has that length. The values of other ranks are ignored.
            root (int): Rank of the process that has the arrays.

        Returns:
            array: The array for this process.

        Raises:
            ValueError: If the root does not have one array for each process.
        """

    # -- objects ----------------------------------------------------------------------------------

    @abstractmethod
    def send_obj(self, obj: Any, dest: int, tag: int) -> None:
        """Sends an object to one process, which has to call :meth:`recv_obj`.

        Args:
            obj: The object.
            dest (int): Rank of the receiver.
            tag (int): Number that the receiver gives as well.
        """

    @abstractmethod
    def recv_obj(self, source: int, tag: int) -> Any:
        """Receives an object that another process sends by :meth:`send_obj`.

        Args:
            source (int): Rank of the sender.
            tag (int): Number that the sender gives as well.
        """

    @abstractmethod
    def bcast_obj(self, obj: Any, max_buf_len: int | None = None, root: int = 0) -> Any:
        """Gives an object of one process to all. Collective.

        Args:
            obj: At the root, the object. The values of other ranks are ignored.
            max_buf_len (int): Greatest number of bytes that are sent at once.
            root (int): Rank of the process that has the object.

        Returns:
            The object itself at the root, a copy elsewhere.
        """

    @abstractmethod
    def gather_obj(self, obj: Any, root: int = 0) -> list[Any] | None:
        """Collects an object of each process at one of them. Collective.

        Args:
            obj: Object of this process.
            root (int): Rank of the process that gets the objects.

        Returns:
            list: At the root, the objects in order of the ranks; None elsewhere.
        """

    @abstractmethod
    def allreduce_obj(self, obj: Any) -> Any:
        """Adds up objects of all processes by ``+``, in order of the ranks. Collective.

        Args:
            obj: Number, array, list or anything else that can be added.
        """

    def allgather_obj(self, obj: Any) -> list[Any]:
        """Collects an object of each process at all of them. Collective.

        Args:
            obj: Object of this process.

        Returns:
            list: The objects in order of the ranks.
        """
        return self.bcast_obj(self.gather_obj(obj))

    def barrier(self) -> None:
        """Waits until all processes have called it. Collective."""
        self.allreduce_obj(0)

    # -- models -----------------------------------------------------------------------------------

    @abstractmethod
    def bcast_data(self, model: Link) -> None:
        """Gives the parameters of rank 0 to the models of all processes, in place. Collective.

        Parameters without data are skipped. Persistent values are not broadcast.

        Args:
            model (~chainer.Link): Link with the same parameters in all processes.
        """

    def broadcast_data(self, model: Link) -> None:
        """Older name of :meth:`bcast_data`."""
        self.bcast_data(model)

    @abstractmethod
    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        """Replaces gradients by their means over all processes. Collective.

        Args:
            model (~chainer.Link): Link with the same parameters in all processes.
            zero_fill (bool): Whether a gradient that is missing counts as zeros. Otherwise it must
                be missing in all processes, and is left out.
        """

    def allreduce_grad(self, model: Link, zero_fill: bool = False) -> None:
        """Deprecated name of :meth:`multi_node_mean_grad`."""
        warnings.warn(
            "allreduce_grad is deprecated, use multi_node_mean_grad instead",
            DeprecationWarning,
            stacklevel=2,
        )
        self.multi_node_mean_grad(model, zero_fill)

    def mean_array(self, array: Array) -> None:
        """Replaces an array by its mean over all processes, in place. Collective.

        Args:
            array (array): Float array of the same shape and dtype in all processes.
        """
        array[...] = self.allreduce(array) / self.size

    def _multi_node_mean(self, sendbuf: Array | None, recvbuf: Array) -> None:
        """Name of :meth:`mean_array` in release 7, which programs call."""
        if sendbuf is not None:
            recvbuf[...] = sendbuf
        self.mean_array(recvbuf)

    def start_mean(self, array: Array) -> Request:
        """Starts :meth:`mean_array` of a flat, contiguous array. Collective.

        The array must be left alone until the request is complete. Here the mean is made at once.

        Args:
            array (array): Float array of one dimension.

        Returns:
            Request: Its ``wait()`` returns when the array has the mean.
        """
        self.mean_array(array)
        return CompletedRequest()

    def start_bcast(self, array: Array, root: int) -> Request:
        """Starts to fill an array with the values that one process has. Collective.

        Here it is done at once.

        Args:
            array (array): Contiguous array of the same shape and dtype in all processes.
            root (int): Rank of the process that has the values.

        Returns:
            Request: Its ``wait()`` returns when the array has the values.
        """
        received = self.bcast(array if self.rank == root else None, root)
        if self.rank != root:
            array[...] = received
        return CompletedRequest()

    def start_mean_at(self, array: Array, root: int) -> Request:
        """Starts the mean of a flat array for one process only, in place. Collective.

        Here all processes get the mean, at once.

        Args:
            array (array): Float array of one dimension.
            root (int): Rank of the process that gets the mean. Elsewhere the values are undefined.

        Returns:
            Request: Its ``wait()`` returns when the root has the mean.
        """
        self.mean_array(array)
        return CompletedRequest()

    def reduce_scatter_mean(self, array: Array, counts: Sequence[int]) -> None:
        """Makes a part of the mean of a flat array in each process, in place. Collective.

        Args:
            array (array): Float array of one dimension. The part of rank ``r``, which follows the
                parts of lower ranks, is the mean afterwards; the rest is undefined.
            counts (list of int): Numbers of elements of the parts.
        """
        self.mean_array(array)

    def allgather_parts(self, array: Array, counts: Sequence[int]) -> None:
        """Completes a flat array of which each process has a part, in place. Collective.

        Args:
            array (array): Array of one dimension; the part of rank ``r`` is given by this process.
            counts (list of int): Numbers of elements of the parts.
        """
        start = sum(counts[: self.rank])
        parts = self.allgather(array[start : start + counts[self.rank]])
        position = 0
        for part in parts:
            array[position : position + part.size] = part
            position += part.size

    def finalize(self) -> None:  # noqa: B027
        """Frees resources. Collective; the communicator must not be used any more."""


def require_communicator(name: str, value: object) -> None:
    """Checks that an argument is a communicator, where it is taken rather than where it is used.

    Args:
        name: Name of the argument.
        value: The argument.

    Raises:
        TypeError: If it is not.
    """
    require_attribute(
        name, value, "size", "a communicator: that of chainermn.create_communicator()"
    )
