# SPDX-License-Identifier: BSD-3-Clause
"""Arrays on their way to a device while that computes with those that came before."""

from typing import Any

import numpy as np
import torch

_stream: Any = torch.cuda.Stream
_event: Any = torch.cuda.Event
BUFFERS = 2  # of one kind: one is filled while the other travels


class Uploads:
    """Copies arrays to a device through memory that it can read by itself.

    Locking memory takes longer than copying, so buffers are kept and used in turn: what is in
    memory on the host is ``BUFFERS`` blocks of each kind, whatever the number of rows. On a CUDA
    device copies have a stream of their own, which products do not wait for.

    Parameters
    ----------
    device : torch.device
    """

    def __init__(self, device: Any) -> None:
        self.device, self.cuda = device, device.type == "cuda"
        self.stream = _stream(device) if self.cuda else None
        self._buffers: dict[Any, list[Any]] = {}

    def send(self, arrays: dict[str, Any]) -> "Sent":
        """Begin to copy ``arrays``, each in its own precision.

        Whatever is no array of floats, such as a sparse matrix, a tensor or None, is passed on.
        """
        sent = dict(arrays)
        for name, array in arrays.items():
            if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.size:
                sent[name] = self._send(name, array)
        return Sent(sent, self.stream)

    def _send(self, name: str, array: np.ndarray) -> Any:
        buffer = self._free_buffer((name, array.shape[1:], array.dtype), array)
        there = buffer.memory[: len(array)]
        np.copyto(there.numpy(), array)
        if not self.cuda:
            return there.clone()
        with torch.cuda.stream(self.stream):
            tensor = there.to(self.device, non_blocking=True)
            buffer.arrived.record(self.stream)
        return tensor

    def _free_buffer(self, kind: Any, array: np.ndarray) -> Any:
        """The one that was used longest ago, when what it held has arrived."""
        buffers = self._buffers.setdefault(kind, [])
        if len(buffers) < BUFFERS:
            buffers.append(_Buffer(self.cuda))
        else:
            buffers.append(buffers.pop(0))
        buffer = buffers[-1]
        if self.cuda:
            buffer.arrived.synchronize()
        if len(buffer.memory) < len(array):
            like = torch.from_numpy(np.empty(0, kind[-1]))
            buffer.memory = torch.empty(array.shape, dtype=like.dtype, pin_memory=self.cuda)
        return buffer


class _Buffer:
    def __init__(self, cuda: bool) -> None:
        self.memory: Any = ()
        self.arrived: Any = _event() if cuda else None


class Sent:
    """Tensors that are on their way."""

    def __init__(self, tensors: dict[str, Any], stream: Any) -> None:
        self._tensors, self._stream, self._event = tensors, stream, None
        if stream is not None:
            self._event = _event()
            self._event.record(stream)

    def received(self) -> dict[str, Any]:
        """The tensors; what is computed with them from here on waits for them, nothing else."""
        if self._event is not None:
            current = torch.cuda.current_stream(self._stream.device)
            current.wait_event(self._event)
            for tensor in self._tensors.values():
                if isinstance(tensor, torch.Tensor) and tensor.is_cuda:
                    tensor.record_stream(current)  # its memory is in use here, too
        return self._tensors
