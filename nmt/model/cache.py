"""The key–value cache: decoding steps need not project past positions again."""

from torch import Tensor


class KeyValueCache:
    """Keys and values of past positions in one layer, in buffers that double when full.

    keys: (batch, groups, positions, d_key); values: (batch, groups, positions, d_value), with one
    group per head unless `model.key_value_heads` is smaller
    """

    def __init__(self) -> None:
        self.length = 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions; return all keys and values so far."""
        start, self.length = self.length, self.length + key.shape[2]
        self._keys = _write(self._keys, key, start)
        self._values = _write(self._values, value, start)
        return self._keys.narrow(2, 0, self.length), self._values.narrow(2, 0, self.length)

    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder the rows of the batch; rows: (new batch,)."""
        if self._keys is not None and self._values is not None:
            self._keys = self._keys.index_select(0, rows)
            self._values = self._values.index_select(0, rows)


def _write(buffer: Tensor | None, new: Tensor, start: int) -> Tensor:
    """Write positions from `start` into the buffer, or into a larger copy.

    buffer: (batch, heads, positions, d); new: (batch, heads, new positions, d)
    """
    end = start + new.shape[2]
    if buffer is None or buffer.shape[2] < end:
        full = buffer
        buffer = new.new_empty(*new.shape[:2], 2 * end, new.shape[3])
        if full is not None:
            buffer[:, :, :start] = full[:, :, :start]
    buffer.narrow(2, start, new.shape[2]).copy_(new)
    return buffer
