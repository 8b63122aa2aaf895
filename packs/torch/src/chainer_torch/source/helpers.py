"""Functions that are written into a file when a model needs them."""

from __future__ import annotations

#: Name -> source text, in the order in which they stand in a file.
HELPERS = {
    # Tensor.prod takes one axis, or all of them.
    "_prod": '''
def _prod(x, axes, keepdim):
    """Multiplies the elements along axes."""
    for axis in sorted([axes] if isinstance(axes, int) else axes, reverse=True):
        x = x.prod(axis, keepdim=keepdim)
    return x
''',
    # Flatten of ONNX makes two axes in any case.
    "_flatten": '''
def _flatten(x, axis):
    """Makes two axes: those before an axis, and the others."""
    return x.reshape(math.prod(x.shape[:axis]), -1)
''',
    # Tensor.expand keeps an axis that the shape has with length 1; Expand of ONNX broadcasts both
    # ways.
    "_expand": '''
def _expand(x, shape):
    """Repeats axes of length 1, of the tensor or of the shape."""
    return x.broadcast_to(torch.broadcast_shapes(x.shape, shape))
''',
    # Slices of PyTorch have no negative steps.
    "_slice": '''
def _slice(x, starts, ends, axes, steps):
    """Takes slices; steps may be negative."""
    for start, end, axis, step in zip(starts, ends, axes, steps):
        length = x.shape[axis]
        # An end before the first element is given as a very small number.
        end = None if step < 0 and end < -length else end
        index = torch.arange(length)[slice(start, end, step)] if step > 0 else torch.tensor(
            range(length)[slice(start, end, step)], dtype=torch.int64
        )
        x = x.index_select(axis, index)
    return x
''',
    # F.pad with elements of the tensor takes the last axes only, and not of all numbers of axes.
    "_pad": '''
def _pad(x, before, after, mode):
    """Pads with elements of the tensor: the nearest, the mirrored, or those of the other end."""
    for axis, (first, last) in enumerate(zip(before, after)):
        if first or last:
            n = x.shape[axis]
            index = torch.arange(-first, n + last)
            if mode == "edge":
                index = index.clamp(0, n - 1)
            elif mode == "wrap":
                index = index % n
            else:
                index = (index + n - 1) % max(2 * (n - 1), 1) - (n - 1)
                index = index.abs()
            x = x.index_select(axis, index)
    return x
''',
    "_gather_nd": '''
def _gather_nd(x, index):
    """Takes elements or parts by index tuples, which are the last axis of the index."""
    return x[tuple(index.long().movedim(-1, 0))]
''',
    "_scatter_nd": '''
def _scatter_nd(x, index, values, add):
    """Puts elements or parts at index tuples, which are the last axis of the index."""
    return x.index_put(tuple(index.long().movedim(-1, 0)), values, accumulate=add)
''',
    # F.pixel_shuffle is the order CRD of ONNX: channels before blocks.
    "_depth_to_space": '''
def _depth_to_space(x, size, channels_first):
    """Moves channels to blocks of an image."""
    n, c, h, w = x.shape
    if channels_first:
        return F.pixel_shuffle(x, size)
    x = x.reshape(n, size, size, c // size**2, h, w).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(n, c // size**2, h * size, w * size)
''',
    "_space_to_depth": '''
def _space_to_depth(x, size):
    """Moves blocks of an image to channels."""
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // size, size, w // size, size).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(n, c * size**2, h // size, w // size)
''',
    # Gates have the order of ONNX: input, output, forget, cell; update, reset, new.
    "_cell": '''
def _cell(kind, x, h, c, w, r, b_x, b_h):
    """Computes one step of a recurrent network: the new state, and the new cell."""
    if kind == "lstm":
        i, o, f, g = (x @ w.T + b_x + h @ r.T + b_h).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
    if kind in ("gru", "gru_reset_first"):
        w_z, w_r, w_h = (x @ w.T + b_x).chunk(3, 1)
        (r_z, r_r, r_h), (b_z, b_r, b_n) = r.chunk(3), b_h.chunk(3)
        z = torch.sigmoid(w_z + h @ r_z.T + b_z)
        reset = torch.sigmoid(w_r + h @ r_r.T + b_r)
        if kind == "gru":
            new = torch.tanh(w_h + reset * (h @ r_h.T + b_n))
        else:
            new = torch.tanh(w_h + (reset * h) @ r_h.T + b_n)
        return (1 - z) * new + z * h, c
    y = x @ w.T + b_x + h @ r.T + b_h
    return (torch.relu(y) if kind == "relu" else torch.tanh(y)), c
''',
    # PyTorch's layers have other orders of gates, and none that reads backward only.
    "_recurrent": '''
def _recurrent(kind, x, w, r, b, lengths, h, c, backward):
    """Computes a recurrent layer over sequences (time, batch, unit), in one or two directions."""
    every, last_h, last_c = [], [], []
    for k in range(w.shape[0]):
        b_x, b_h = (torch.zeros(2 * r.shape[1]).to(x) if b is None else b[k]).chunk(2)
        state = torch.zeros(x.shape[1], r.shape[2]).to(x) if h is None else h[k]
        cell = torch.zeros_like(state) if c is None else c[k]
        outputs = [None] * len(x)
        times = range(len(x))
        for t in reversed(times) if backward or k else times:
            new, new_cell = _cell(kind, x[t], state, cell, w[k], r[k], b_x, b_h)
            if lengths is None:
                state, cell = new, new_cell
                outputs[t] = state
            else:
                # A sequence that has ended keeps its state.
                goes_on = (lengths > t)[:, None]
                state = torch.where(goes_on, new, state)
                cell = torch.where(goes_on, new_cell, cell)
                outputs[t] = torch.where(goes_on, state, torch.zeros_like(state))
        every.append(torch.stack(outputs))
        last_h.append(state)
        last_c.append(cell)
    return torch.stack(every, 1), torch.stack(last_h), torch.stack(last_c)
''',
    # Operators of regions are in torchvision, which the file must not need.
    "_roi_pool": '''
def _roi_pool(x, rois, size, scale):
    """Takes maxima in parts of regions (image, left, top, right, bottom)."""
    found = []
    for roi in rois.tolist():
        left, top, right, bottom = (math.floor(v * scale + 0.5) for v in roi[1:])
        bins = []
        for first, last, count, length in (
            (top, bottom, size[0], x.shape[2]), (left, right, size[1], x.shape[3])
        ):
            step = max(last - first + 1, 1) / count
            bins.append([
                (min(max(first + math.floor(i * step), 0), length),
                 min(max(first + math.ceil((i + 1) * step), 0), length))
                for i in range(count)
            ])
        image = x[int(roi[0])]
        parts = [
            image[:, a:b, c:d].amax((1, 2)) if b > a and d > c else image.new_zeros(len(image))
            for a, b in bins[0] for c, d in bins[1]
        ]
        found.append(torch.stack(parts, 1).reshape(-1, *size))
    return torch.stack(found)
''',
    "_roi_align": '''
def _roi_align(x, rois, images, size, scale, ratio, centered):
    """Averages samples between pixels in parts of regions (left, top, right, bottom)."""
    found = []
    for roi, image in zip((rois.double() * scale).tolist(), images.tolist()):
        left, top, right, bottom = (v - 0.5 if centered else v for v in roi)
        axes = []
        for first, extent, bins, length in (
            (top, bottom - top, size[0], x.shape[2]), (left, right - left, size[1], x.shape[3])
        ):
            extent = extent if centered else max(extent, 1.0)
            count = ratio if ratio > 0 else max(math.ceil(extent / bins), 1)
            at = first + (torch.arange(bins * count) + 0.5).double() * (extent / bins / count)
            inside = ((at >= -1) & (at <= length)).to(x)
            at = at.clamp(0, length - 1)
            low = at.floor().long()
            high = (low + 1).clamp(max=length - 1)
            # A row of the matrix has the weights of the pixels of a sample.
            weights = x.new_zeros(len(at), length)
            part = (at - low).to(x)
            weights = weights.scatter_add(1, low[:, None], ((1 - part) * inside)[:, None])
            weights = weights.scatter_add(1, high[:, None], (part * inside)[:, None])
            axes.append(weights.reshape(bins, count, length).mean(1))
        found.append(axes[0] @ x[image] @ axes[1].T)
    return torch.stack(found)
''',
    "_dft": '''
def _dft(x, axis, inverse):
    """Computes a Fourier transform; the last axis has the real and the imaginary part."""
    transform = torch.fft.ifft if inverse else torch.fft.fft
    return torch.view_as_real(transform(torch.view_as_complex(x.contiguous()), dim=axis))
''',
}
