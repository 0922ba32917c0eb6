"""That flash-attn is stood in for: an operator by whose name dtype-san's reports know it, called with each of the others."""
import torch


@torch.library.custom_op("stand_in::flash_attn", mutates_args=())
def say(x: torch.Tensor) -> None:
    pass
