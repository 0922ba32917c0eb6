"""Model classes of published packages, with random weights and small configurations: each class in each precision runs in
a child of its own, whose number is printed. In float32, bfloat16 and under autocast they are right as they are; "broken"
is bfloat16 with one promotion in front of the first attention, at the marked line. "generation" is for those that make text: some
tokens in bfloat16, with a key/value cache that grows and, where the class has one, a cache of a fixed size.
Usage: torch_models.py float32,bfloat16,autocast,training,generation,broken [CLASS...]"""
import os
import sys
import traceback
import warnings

warnings.simplefilter("ignore")
os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # pylint: disable=wrong-import-position

torch.set_num_threads(1)
SMALL = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
         "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "attn_implementation": "sdpa"}
DECODERS = """llama mistral qwen2 qwen3 gemma gemma2 gemma3_text phi phi3 gpt_neox stablelm starcoder2 olmo olmo2 cohere cohere2
    granite mixtral qwen2_moe qwen3_moe glm glm4 nemotron persimmon helium smollm3 arcee ernie4_5 exaone4 seed_oss falcon bloom opt biogpt
    xglm gpt2 gptj gpt_neo codegen mpt""".split()
ENCODERS = """bert roberta albert distilbert electra xlm-roberta camembert esm modernbert layoutlm deberta-v2 convbert nystromformer
    mpnet ernie roformer mobilebert""".split()
PAIRS = "t5 bart mbart pegasus marian m2m_100 umt5 blenderbot mt5 plbart".split()
IMAGES = "vit deit beit dinov2 siglip_vision_model clip_vision_model yolos vit_msn ijepa dinov2_with_registers".split()
OTHER_WORDS = {  # what a configuration calls these
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}, "gptj": {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 8},
    "codegen": {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 8}, "bloom": {"n_layer": 2, "n_head": 4},
    "mpt": {"d_model": 32, "n_layers": 2, "n_heads": 4}, "gpt_neo": {"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]},
    "opt": {"ffn_dim": 64, "word_embed_proj_dim": 32}, "xglm": {"d_model": 32, "ffn_dim": 64, "num_layers": 2, "attention_heads": 4},
    "distilbert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}, "albert": {"embedding_size": 16},
    "t5": {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4},
    "phi3": {"rope_scaling": None}, "gemma": {"head_dim": 8}, "mobilebert": {"embedding_size": 32, "intra_bottleneck_size": 32, "true_hidden_size": 32},
    "esm": {"position_embedding_type": "rotary"}, "roformer": {"embedding_size": 32}}
for name in ("umt5", "mt5"):
    OTHER_WORDS[name] = OTHER_WORDS["t5"]
for name in PAIRS:
    OTHER_WORDS.setdefault(name, {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
                                  "encoder_ffn_dim": 64, "decoder_ffn_dim": 64})
for name in DECODERS:
    if name in ("qwen3", "qwen3_moe", "gemma2", "gemma3_text", "glm", "glm4", "helium", "exaone4", "seed_oss", "mistral", "cohere2"):
        OTHER_WORDS.setdefault(name, {"head_dim": 8})
WORDS = torch.randint(3, 60, (2, 12))
IMAGE = torch.randn(2, 3, 32, 32)


def transformer(kind):
    def build():
        import transformers
        changes = {**SMALL, "num_key_value_heads": 2, "num_experts": 4, "num_local_experts": 4, "moe_intermediate_size": 16, "num_experts_per_tok": 2, "image_size": 32,
                   "patch_size": 8, **OTHER_WORDS.get(kind, {})}
        if kind in ("falcon", "persimmon", "gpt_neox"):
            changes.pop("num_key_value_heads")
        config = transformers.AutoConfig.for_model(kind, **changes)
        try:
            model = transformers.AutoModel.from_config(config)
        except ValueError:  # has no attention by SDPA
            config = transformers.AutoConfig.for_model(kind, **{**changes, "attn_implementation": "eager"})
            model = transformers.AutoModel.from_config(config)
        if kind in IMAGES:
            return model, {"pixel_values": IMAGE}
        inputs = {"input_ids": WORDS, "attention_mask": torch.ones_like(WORDS)}
        return model, {**inputs, "decoder_input_ids": WORDS} if kind in PAIRS else inputs
    return build


def generates_text(kind):
    def generate():
        import transformers
        config = transformer(kind)()[0].config
        head = transformers.AutoModelForSeq2SeqLM if kind in PAIRS else transformers.AutoModelForCausalLM
        model = head.from_config(config).bfloat16().eval()
        words = {"input_ids": WORDS, "attention_mask": torch.ones_like(WORDS), "max_new_tokens": 4, "do_sample": False}
        model.generate(**words)
        if kind in DECODERS and getattr(model, "_can_compile_fullgraph", False):
            model.generate(**words, cache_implementation="static", disable_compile=True)
    return generate


def eager(kind):
    def build():
        import transformers
        config = transformers.AutoConfig.for_model(kind, **{**SMALL, "num_key_value_heads": 2, **OTHER_WORDS.get(kind, {}), "attn_implementation": "eager"})
        return transformers.AutoModel.from_config(config, attn_implementation="eager"), {"input_ids": WORDS, "attention_mask": torch.ones_like(WORDS)}
    return build


def of_timm(name, **changes):
    def build():
        import timm
        return timm.create_model(name, num_classes=4, **changes), {"x": torch.randn(2, 3, changes.get("img_size", 224), changes.get("img_size", 224))}
    return build


def x_transformer(**changes):
    def build():
        import x_transformers
        wide = {"dim": 32, "depth": 2, "heads": 4, "attn_dim_head": 8, "attn_flash": True, **changes}
        layers = x_transformers.Encoder(**wide) if wide.pop("encodes", False) else x_transformers.Decoder(**wide)
        return x_transformers.TransformerWrapper(num_tokens=64, max_seq_len=32, attn_layers=layers), {"x": WORDS}
    return build


def x_generates(**changes):
    def generate():
        import x_transformers
        model = x_transformers.AutoregressiveWrapper(x_transformer(**changes)()[0]).bfloat16().eval()
        model.generate(WORDS, 4)
    return generate


def of_torchtune(family, **changes):
    def build():
        import importlib
        models = importlib.import_module(f"torchtune.models.{family}")
        small = {"vocab_size": 64, "num_layers": 2, "num_heads": 4, "num_kv_heads": 2, "embed_dim": 32, "max_seq_len": 32, **changes}
        return getattr(models, family)(**small), {"tokens": WORDS}
    return build


def of_diffusers(name, inputs, **changes):
    def build():
        import diffusers
        return getattr(diffusers, name)(**changes), inputs()
    return build


def of_torch(name, **changes):
    def build():
        model = getattr(torch.nn, name)
        if name == "TransformerEncoder":
            return model(torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2), {"src": torch.randn(2, 8, 32)}
        if name == "Transformer":
            return model(32, 4, 1, 1, 64, batch_first=True), {"src": torch.randn(2, 8, 32), "tgt": torch.randn(2, 8, 32)}
        return model(32, 4, batch_first=True), {"query": torch.randn(2, 8, 32), "key": torch.randn(2, 8, 32), "value": torch.randn(2, 8, 32)}
    return build


def noise():
    return {"sample": torch.randn(1, 4, 16, 16), "timestep": torch.tensor([3]), "encoder_hidden_states": torch.randn(1, 6, 32)}


CLASSES = {f"transformers {kind}": transformer(kind) for kind in DECODERS + ENCODERS + PAIRS + IMAGES}
CLASSES.update({f"transformers {kind} by hand": eager(kind) for kind in ("llama", "qwen2", "gemma2", "gpt_neox", "bert", "opt", "mistral", "gpt2")})
CLASSES.update({
    "timm vit": of_timm("vit_tiny_patch16_224", img_size=32), "timm deit": of_timm("deit_tiny_patch16_224", img_size=32),
    "timm eva": of_timm("eva02_tiny_patch14_224", img_size=28), "timm beit": of_timm("beit_base_patch16_224", img_size=32, embed_dim=48, num_heads=4, depth=2),
    "timm cait": of_timm("cait_xxs24_224", img_size=32, depth=2), "timm xcit": of_timm("xcit_nano_12_p16_224", img_size=32, depth=2),
    "timm swin": of_timm("swin_tiny_patch4_window7_224", depths=(1, 1, 1, 1), embed_dim=24, num_heads=(1, 2, 4, 8)),
    "timm mvitv2": of_timm("vit_relpos_small_patch16_224", img_size=32, depth=2),
    "x-transformers decoder": x_transformer(rotary_pos_emb=True), "x-transformers encoder": x_transformer(encodes=True),
    "x-transformers xpos": x_transformer(rotary_xpos=True), "x-transformers alibi": x_transformer(alibi_pos_bias=True),
    "x-transformers rms": x_transformer(use_rmsnorm=True, rotary_pos_emb=True), "x-transformers qk norm": x_transformer(attn_qk_norm=True),
    "x-transformers by hand": x_transformer(attn_flash=False, rotary_pos_emb=True), "x-transformers swiglu": x_transformer(ff_swish=True, ff_glu=True),
    "torchtune llama2": of_torchtune("llama2"), "torchtune llama3": of_torchtune("llama3", intermediate_dim=64),
    "torchtune mistral": of_torchtune("mistral", intermediate_dim=64), "torchtune phi3": of_torchtune("phi3", intermediate_dim=64),
    "torchtune qwen2": of_torchtune("qwen2", intermediate_dim=64), "torchtune gemma": of_torchtune("gemma", head_dim=8, intermediate_dim=64),
    "torch MultiheadAttention": of_torch("MultiheadAttention"), "torch TransformerEncoder": of_torch("TransformerEncoder"),
    "torch Transformer": of_torch("Transformer"),
    "diffusers UNet2DConditionModel": of_diffusers(
        "UNet2DConditionModel", noise, sample_size=16, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, attention_head_dim=8,
        cross_attention_dim=32, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D")),
    "diffusers AutoencoderKL": of_diffusers("AutoencoderKL", lambda: {"sample": IMAGE}, block_out_channels=(16,), norm_num_groups=8),
    "diffusers FluxTransformer2DModel": of_diffusers(
        "FluxTransformer2DModel", lambda: {"hidden_states": torch.randn(1, 8, 16), "encoder_hidden_states": torch.randn(1, 6, 32), "pooled_projections": torch.randn(1, 32),
                                           "timestep": torch.tensor([1.0]), "img_ids": torch.zeros(8, 3), "txt_ids": torch.zeros(6, 3), "guidance": None},
        patch_size=1, in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2, joint_attention_dim=32,
        pooled_projection_dim=32, axes_dims_rope=(4, 4, 8)),
    "diffusers SD3Transformer2DModel": of_diffusers(
        "SD3Transformer2DModel", lambda: {"hidden_states": torch.randn(1, 4, 16, 16), "encoder_hidden_states": torch.randn(1, 6, 32),
                                          "pooled_projections": torch.randn(1, 64), "timestep": torch.tensor([1])},
        sample_size=16, patch_size=2, in_channels=4, num_layers=1, attention_head_dim=8, num_attention_heads=4, caption_projection_dim=32, joint_attention_dim=32,
        pooled_projection_dim=64, out_channels=4),
    "diffusers DiTTransformer2DModel": of_diffusers(
        "DiTTransformer2DModel", lambda: {"hidden_states": torch.randn(1, 4, 8, 8), "timestep": torch.tensor([1]), "class_labels": torch.tensor([1])},
        num_attention_heads=2, attention_head_dim=16, in_channels=4, out_channels=8, num_layers=1, sample_size=8, norm_num_groups=8, num_embeds_ada_norm=16),
})
GENERATING = {f"transformers {kind}": generates_text(kind) for kind in DECODERS + PAIRS}
GENERATING.update({"x-transformers decoder": x_generates(rotary_pos_emb=True), "x-transformers alibi": x_generates(alibi_pos_bias=True),
                   "x-transformers swiglu": x_generates(ff_swish=True, ff_glu=True)})
# Modules whose result becomes q, by what packages call them.
QUERIES = ("q_proj", "query", "to_q", "q_lin", "query_proj", "qkv", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "in_proj", "q", "attn_q", "q_norm")


def promote(module, inputs, result):
    return result * torch.ones(result.shape[-1])  # call: broken


def break_one(model, inputs):
    """Among the modules that a first run calls: some use the weights of a projection alone."""
    called = []
    hooks = [module.register_forward_hook(lambda one, *_: called.append(one)) for module in model.modules() if not list(module.children())]
    with torch.no_grad():
        model(**inputs)
    for hook in hooks:
        hook.remove()
    names = {module: name.rsplit(".", 1)[-1] for name, module in model.named_modules()}
    queries = [module for module in called if names.get(module) in QUERIES]
    chosen = queries or [module for module in called if isinstance(module, torch.nn.Linear)]
    if chosen:
        chosen[0].register_forward_hook(promote)
        return
    first = next(iter(inputs))  # all of it is one operator, or uses weights alone
    inputs[first] = promote(None, None, inputs[first])


def total(result):
    if isinstance(result, torch.Tensor):
        return result.float().sum() if result.is_floating_point() else 0
    values = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else ()
    return sum(total(value) for value in values)


def run(name, how):
    torch.manual_seed(0)
    if how == "generation":
        with torch.inference_mode():
            GENERATING[name]()
        return
    build = CLASSES[name]
    model, inputs = build()
    model.train(how == "training")
    if how in ("bfloat16", "broken"):
        model.bfloat16()
        inputs = {key: value.bfloat16() if isinstance(value, torch.Tensor) and value.is_floating_point() and not key.endswith("_ids") else value
                  for key, value in inputs.items()}
    if how == "broken":
        break_one(model, inputs)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=how in ("autocast", "training")), torch.set_grad_enabled(how == "training"):
        result = model(**inputs)
    if how == "training":
        total(result).backward()


def in_child(work):
    child = os.fork()
    if child != 0:
        os.waitpid(child, 0)
        return
    work()
    sys.stdout.flush()
    sys.exit(0)


def attempt(name, how):
    try:
        run(name, how)
        said = "ok"
    except Exception as error:  # pylint: disable=broad-except
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {str(error).splitlines()[0][:90] if str(error) else ''} at {os.path.basename(at.filename)}:{at.lineno}"
    print(f"{os.getpid()}\t{name}\t{how}\t{said}", flush=True)


def in_each(name, ways):
    """The modules of the class are imported once, for all precisions."""
    try:
        CLASSES[name]()
    except Exception:  # pylint: disable=broad-except
        pass
    for how in ways:
        if how == "generation" and name not in GENERATING:
            continue
        in_child(lambda how=how: attempt(name, how))


if __name__ == "__main__":
    wanted = sys.argv[2:] or list(CLASSES)
    for package in sorted({name.split(" ", 1)[0] for name in wanted}):  # once, for all children
        try:
            __import__(package.replace("-", "_"))
        except Exception as error:  # pylint: disable=broad-except
            print(f"0\t{package}\timport\t{str(error).splitlines()[0]}", flush=True)
    for name in wanted:
        in_child(lambda name=name: in_each(name, sys.argv[1].split(",")))
