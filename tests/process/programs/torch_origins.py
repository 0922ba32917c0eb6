"""Wrong calls of scaled_dot_product_attention whose q came to be float32 in a way of its own; k and v are bfloat16. The
comments mark the line that a report has to open with."""
import os
import sys
import threading

import torch
import torch.nn.functional as F

LOW = torch.bfloat16


def low():
    return torch.randn(1, 2, 8, 16, dtype=LOW)


def attend(q, k=None):
    try:
        F.scaled_dot_product_attention(q, low() if k is None else k, low())
    except RuntimeError as error:
        print(type(error).__name__, str(error)[:20])


def promoted():
    table = torch.ones(16)  # call: table: promoted
    attend(low() * table)  # call: promoted


def by_a_cast_table():
    table = torch.ones(16, dtype=LOW).to(torch.float32)  # call: table: by_a_cast_table
    attend(low() * table)  # call: by_a_cast_table


def both():
    table = torch.ones(16)
    attend(*[low() * table for _ in range(2)])


def promoted_and_kept():
    """A cast to the dtype that is there already is told, and is no origin."""
    q = low() * torch.ones(16)  # call: promoted_and_kept
    attend(q.to(torch.float32))


def normed(x):
    """As Llama's norm is written: what is float32 already is cast to that twice, which changes nothing."""
    dtype = x.dtype
    x = x.to(torch.float32)
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return torch.ones(16, dtype=LOW) * x.to(dtype)


def promoted_and_normed():
    q = low() * torch.ones(16)  # call: promoted_and_normed
    attend(normed(q))


def promoted_and_normed_often():
    """The way is longer than is kept of it: where it begins is kept."""
    q = low() * torch.ones(16)  # call: promoted_and_normed_often
    for shift in (1.0, 2.0):
        q = normed(q)
        q = torch.full((16,), shift, dtype=LOW) + q.to(torch.float32)
    attend(q)


def cast_and_normed():
    """A norm whose weights are float32, and which casts the half that it is given."""
    x = low().to(torch.float32)  # call: table: cast_and_normed
    attend(torch.ones(16, dtype=LOW) * x.to(torch.float32))  # call: cast_and_normed


def scaled_and_attended():
    attend(low() * torch.ones(16))  # call: from_several_places


def made_and_attended():
    attend(torch.zeros(1, 2, 8, 16))  # call: made_in_several_places


def encoder(part):
    part()


def decoder(part):
    part()


def from_several_places():
    """One line, in a function that several call, and a child."""
    torch.set_num_threads(1)  # a child has no threads of OpenMP's
    for way in encoder, decoder:
        for part in scaled_and_attended, made_and_attended:
            way(part)
    child = os.fork()
    if child == 0:
        scaled_and_attended()
        os._exit(0)
    os.waitpid(child, 0)


def two_halves():
    attend(low() + torch.ones(16, dtype=torch.float16))  # call: two_halves


def cast():
    q = low().float()  # call: cast
    attend(q.transpose(-1, -2).contiguous().transpose(-1, -2))


def made():
    q = torch.zeros(1, 2, 8, 16)  # call: made
    attend(q + 1.0)


def through_views_and_in_place():
    table = torch.ones(16)
    q = low() + table  # call: through_views_and_in_place
    q.mul_(2.0)
    q = q.reshape(2, 8, 16)[None]
    attend(q.clone().relu_())


def number_of_no_dimension():
    scale = torch.tensor(2.0)
    wide = low().to(torch.float32) * torch.tensor(3.0, dtype=torch.float64)  # call: number_of_no_dimension
    attend(wide * scale)


def stacked():
    parts = [torch.randn(2, 8, 16, dtype=LOW), torch.randn(2, 8, 16)]
    attend(torch.stack(parts)[1:])  # call: stacked


def recycled():
    """The storage of a freed float32 tensor goes to the next one, which comes from elsewhere."""
    for _ in range(50):
        gone = low() * torch.ones(16)
        del gone
        q = torch.empty(1, 2, 8, 16)  # call: recycled
        q.copy_(low())
        attend(q)


def on_a_thread():
    thread = threading.Thread(target=promoted_on_a_thread)
    thread.start()
    thread.join()


def promoted_on_a_thread():
    table = torch.ones(16)
    attend(low() * table)  # call: on_a_thread


def without_gradients():
    with torch.no_grad():
        attend(low() * torch.ones(16))  # call: without_gradients


def in_a_loop():
    table = torch.ones(16)
    for _ in range(20):
        attend(low() * table)  # call: in_a_loop


def in_cells():
    """As a notebook runs them: the code of each is freed once it has run, and that of the next may lie where it lay."""
    for number in range(20):
        exec(compile("\n" * number + "attend(low() * torch.ones(16))", "cell.py", "exec"), globals())


def unknown():
    """Memory of another owner: nothing is known of how it was written."""
    import array
    q = torch.frombuffer(array.array("f", [1.0] * 256), dtype=torch.float32).view(1, 2, 8, 16)  # call: used
    attend(q)  # call: unknown


def first_unknown():
    """One call, whose first operand is of unknown memory: what is known of those behind it is told."""
    import array
    older = torch.frombuffer(array.array("f", [1.0] * 256), dtype=torch.float32).view(1, 2, 8, 16)
    for number in range(5):
        q = low() * torch.ones(16)  # call: first_unknown
        attend(older if number == 0 else q)


for name in sys.argv[1:]:
    torch.manual_seed(0)
    globals()[name]()
