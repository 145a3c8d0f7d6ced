"""As much of torch as docs/how-to/your-attention.md asks for, with nested lists for tensors: no packages, no download."""
float16 = "F16"


class Tensor:
    def __init__(self, rows, dtype="F32"):
        self.rows, self.dtype = rows, dtype

    @property
    def shape(self):
        shape, rows = [], self.rows
        while isinstance(rows, list):
            shape.append(len(rows))
            rows = rows[0]
        return tuple(shape)

    def __getitem__(self, at):
        def take(rows, at):
            if not at:
                return rows
            if isinstance(at[0], int):
                return take(rows[at[0]], at[1:])
            return [take(row, at[1:]) for row in rows[at[0]]]

        return Tensor(take(self.rows, at if isinstance(at, tuple) else (at,)), self.dtype)

    def __mul__(self, x):
        def scale(rows):
            return [scale(row) for row in rows] if isinstance(rows, list) else rows * x

        return Tensor(scale(self.rows), self.dtype)

    def to(self, device, dtype):
        assert device == "cpu"
        return Tensor(self.rows, dtype)

    def contiguous(self):
        return self


def stack(tensors):
    return Tensor([t.rows for t in tensors], tensors[0].dtype)


def arange(begin, end, step):
    return Tensor(list(range(begin, end, step)), "I64")


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False
