"""flash_ref's functions on PyTorch's tensors, on CUDA or CPU, through ctypes: no copy, on PyTorch's current stream,
with a workspace that PyTorch allocates once."""
import ctypes

c = ctypes
CODES = {"float16": (2, 16), "bfloat16": (4, 16), "float32": (2, 32), "int32": (0, 32)}


class Tensor(c.Structure):  # DLTensor
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class AttentionOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("causal", c.c_uint32), ("stream", c.c_void_p),
                ("workspace", c.c_void_p), ("workspace_bytes", c.c_size_t), ("softmax_scale", c.c_float),
                ("reserved", c.c_uint32), ("softcap", c.c_float), ("window", c.c_uint32),
                ("alibi_slopes", c.c_void_p), ("mask", c.c_void_p)]


class KvCacheOptions(c.Structure):
    _fields_ = [*AttentionOptions._fields_[:-1], ("interleaved", c.c_uint32), ("num_splits", c.c_uint32)]


class RotaryOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("interleaved", c.c_uint32), ("stream", c.c_void_p),
                ("workspace", c.c_void_p), ("workspace_bytes", c.c_size_t), ("conjugate", c.c_uint32),
                ("reserved", c.c_uint32), ("seqlen_offset", c.c_int64), ("seqlen_offsets", c.c_void_p)]


class Rwkv7Options(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("scale", c.c_float), ("stream", c.c_void_p), ("workspace", c.c_void_p),
                ("workspace_bytes", c.c_size_t), ("reserved", c.c_uint32), ("reserved_too", c.c_uint32)]


def describe(tensor):
    """A DLTensor that keeps what it points to."""
    if tensor is None:
        return None
    numbers = c.c_int64 * tensor.dim()
    shape, strides = numbers(*tensor.shape), numbers(*tensor.stride())
    code, bits = CODES[str(tensor.dtype).removeprefix("torch.")]
    device = {"cpu": 1, "cuda": 2}[tensor.device.type]
    result = Tensor(tensor.data_ptr(), device, tensor.device.index or 0, tensor.dim(), code, bits, 1, shape, strides, 0)
    result.kept = (tensor, shape, strides)
    return result


class Library:
    def __init__(self, path):
        import torch
        self.torch = torch
        self.library = c.CDLL(path)
        self.library.flash_ref_last_error.restype = c.c_char_p
        self.workspaces = {}

    def call(self, name, tensors, options):
        pointers = [None if t is None else c.byref(t) for t in tensors]
        if getattr(self.library, name)(*pointers, c.byref(options)) != 0:
            raise RuntimeError(self.library.flash_ref_last_error().decode())

    def prepared(self, options, where, name=None, tensors=()):
        """The options with stream, and a workspace of the size that NAME_workspace says; `where` is a tensor."""
        options.struct_size = c.sizeof(options)
        if where.is_cuda:
            options.stream = self.torch.cuda.current_stream().cuda_stream
        if name is None:
            return options
        size = c.c_size_t()
        pointers = [None if t is None else c.byref(t) for t in tensors]
        if getattr(self.library, f"{name}_workspace")(*pointers, c.byref(options), c.byref(size)) != 0:
            raise RuntimeError(self.library.flash_ref_last_error().decode())
        if size.value:
            memory = self.workspaces.get(name)
            if memory is None or memory.numel() < size.value:
                memory = self.torch.empty(size.value, dtype=self.torch.uint8, device=where.device)
                self.workspaces[name] = memory
            options.workspace, options.workspace_bytes = memory.data_ptr(), memory.numel()
        return options

    def attention_fwd(self, q, k, v, out, lse, causal):
        tensors = [describe(t) for t in (q, k, v, out, lse)]
        self.call("flash_ref_attention_fwd", tensors, self.prepared(AttentionOptions(causal=causal), q))

    def attention_bwd(self, q, k, v, out, lse, dout, dq, dk, dv, causal):
        """A function that runs backward; so are the others whose workspace is asked for once."""
        tensors = [describe(t) for t in (q, k, v, out, lse, dout, dq, dk, dv)]
        options = self.prepared(AttentionOptions(causal=causal), q, "flash_ref_attention_bwd", tensors[:3])
        return lambda: self.call("flash_ref_attention_bwd", tensors, options)

    def attention_kvcache(self, q, k_cache, v_cache, lengths, out):
        tensors = [*(describe(t) for t in (q, k_cache, v_cache)), *[None] * 4, describe(lengths), None, None]
        options = self.prepared(KvCacheOptions(), q, "flash_ref_attention_kvcache", tensors)
        return lambda: self.call("flash_ref_attention_kvcache", [*tensors, describe(out), None], options)

    def rotary(self, x, cos, sin, out):
        self.call("flash_ref_rotary", [describe(t) for t in (x, cos, sin, out)], self.prepared(RotaryOptions(), x))

    def rwkv7_fwd(self, inputs, out):
        tensors = [*(describe(t) for t in inputs), None, describe(out), None]
        self.call("flash_ref_rwkv7_fwd", tensors, self.prepared(Rwkv7Options(), out))

    def rwkv7_bwd(self, inputs, dout, gradients):
        described = [describe(t) for t in inputs]
        options = self.prepared(Rwkv7Options(), dout, "flash_ref_rwkv7_bwd", described)
        tensors = [*described, None, describe(dout), None, *(describe(t) for t in gradients), None]
        return lambda: self.call("flash_ref_rwkv7_bwd", tensors, options)
