"""llama.cpp's own HTTP server with a tiny model of random weights, made on the spot.

    python llama_server.py FILE.gguf chat|embeddings

Prints its address when it answers. The weights are random, but tokens that are letters and signs of JSON are likely, and the
end is reached soon: with a grammar the model makes valid calls and valid JSON, without one it writes some letters."""
import sys
import time

import gguf
import numpy as np
import xllamacpp as xlc

WIDTH, HEADS, LAYERS, INNER, CONTEXT = 64, 4, 2, 128, 8192

TEMPLATE = (
    "{% for message in messages %}[{{ message['role'] }}]{{ message['content'] or '' }}"
    "{% for call in message['tool_calls'] or [] %}{{ call['function']['name'] }}{{ call['function']['arguments'] | tojson }}"
    "{% endfor %}\n{% endfor %}{% for tool in tools or [] %}{{ tool | tojson }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)


def write(path: str) -> None:
    normal, control, byte = gguf.TokenType.NORMAL, gguf.TokenType.CONTROL, gguf.TokenType.BYTE
    signs = [chr(code) for code in range(33, 127)]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{code:02X}>" for code in range(256)), "\u2581", *signs]
    kinds = [gguf.TokenType.UNKNOWN, control, control, *[byte] * 256, *[normal] * (1 + len(signs))]
    # The first place of each embedding is the same and large, so that the first weight of an output is its bias.
    bias = np.full(len(tokens), -12.0)
    bias[tokens.index("\u2581") :] = 0
    for sign, more in (("</s>", -1.0), ('"', 2.5), ("}", 2.0), ("]", 2.0), (",", -3.0), ("\u2581", -3.0)):
        bias[tokens.index(sign)] = more
    random = np.random.default_rng(7)

    def made(*shape: int) -> np.ndarray:
        return random.normal(0, 0.02, shape).astype(np.float32)

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    embeddings, outputs = made(len(tokens), WIDTH), made(len(tokens), WIDTH)
    embeddings[:, 0] = 10
    outputs[:, 0] = bias / np.sqrt(WIDTH)
    writer.add_tensor("token_embd.weight", embeddings)
    writer.add_tensor("output.weight", outputs)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        for name, shape in (("attn_q", (WIDTH, WIDTH)), ("attn_k", (WIDTH, WIDTH)), ("attn_v", (WIDTH, WIDTH)),
                            ("attn_output", (WIDTH, WIDTH)), ("ffn_gate", (INNER, WIDTH)), ("ffn_up", (INNER, WIDTH)),
                            ("ffn_down", (WIDTH, INNER))):
            writer.add_tensor(f"blk.{layer}.{name}.weight", made(*shape))
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path: str, use: str) -> None:
    params = xlc.CommonParams()
    params.model.path = path
    params.hostnames = ["127.0.0.1"]
    params.ui = False
    params.port = 0
    params.model_alias = {"tiny"}
    params.endpoint_slots = True
    params.n_ctx = CONTEXT
    params.n_parallel = 2
    params.cpuparams.n_threads = 1
    params.use_jinja = True
    params.warmup = False
    if use == "embeddings":
        params.embedding = True
        params.pooling_type = xlc.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xlc.Server(params)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(60)


write(sys.argv[1])
serve(sys.argv[1], sys.argv[2])
