"""Runs what dtype-lint finds in transformers' models: each model is made small, in bfloat16, and called as its finding says.

    PYTHONPATH=PACKAGES python3 run_findings.py      # PACKAGES: a folder with transformers 5.24 and what it needs, beside PyTorch

For each it prints the line where PyTorch raises, with what it says, or that nothing was raised. A finding is real where it raises
at the line, or at a call, that the finding names.
"""
import pathlib
import traceback

import torch
import transformers

HALF = torch.bfloat16


def hiera():
    """modeling_hiera.py:966: a mask of booleans as float32 times the tokens."""
    from transformers import HieraConfig
    from transformers.models.hiera.modeling_hiera import HieraDecoder
    config = HieraConfig(image_size=[64, 64], embed_dim=16, depths=[1, 1, 1, 1], num_heads=[1, 2, 4, 8], decoder_hidden_size=16,
                         decoder_depth=1, decoder_num_heads=2, mlp_ratio=2.0)
    decoder = HieraDecoder(config).to(HALF)
    kept = torch.zeros(1, 4, dtype=torch.bool)
    kept[:, :2] = True
    size = decoder.decoder_embeddings.in_features
    decoder(torch.randn(1, 2, *decoder.mask_unit_spatial_shape_final, size, dtype=HALF), kept)


def mvp():
    """modeling_mvp.py:178: zeros of the default dtype beside the mask."""
    from transformers import MvpConfig, MvpModel
    config = MvpConfig(vocab_size=50, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                       decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, use_prompt=True, prompt_length=4,
                       prompt_mid_dim=8, max_position_embeddings=64)
    MvpModel(config).to(HALF).eval()(input_ids=torch.tensor([[5, 6, 7, 2]]), attention_mask=torch.tensor([[1, 1, 1, 0]]))


def nystromformer():
    """modeling_nystromformer.py:157: an identity of the default dtype."""
    from transformers import NystromformerConfig, NystromformerModel
    config = NystromformerConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
                                 max_position_embeddings=66, segment_means_seq_len=64, num_landmarks=8)
    NystromformerModel(config).to(HALF).eval()(input_ids=torch.randint(3, 50, (1, 64)))


def openai():
    """modeling_openai.py:71: a buffer that is float32 where the model is half and its buffers are not."""
    from transformers import OpenAIGPTConfig, OpenAIGPTModel
    model = OpenAIGPTModel(OpenAIGPTConfig(vocab_size=50, n_embd=16, n_layer=1, n_head=2, n_positions=16)).eval()
    for parameter in model.parameters():
        parameter.data = parameter.data.to(HALF)
    model(input_ids=torch.randint(3, 50, (1, 8)))


def main():
    print(f"PyTorch {torch.__version__}, transformers {transformers.__version__}")
    for run in (hiera, mvp, nystromformer, openai):
        print(f"{run.__name__}: {run.__doc__}")
        try:
            with torch.no_grad():
                run()
            print("  nothing was raised")
        except RuntimeError as error:
            frames = [each for each in traceback.extract_tb(error.__traceback__) if "/models/" in each.filename]
            at = f"{pathlib.Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "elsewhere"
            print(f"  raised at {at}: {error}")


if __name__ == "__main__":
    main()
