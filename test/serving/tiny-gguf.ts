import { tinyFile } from '../recipes/tiny-recipe.ts'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import type { Forge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { untilState } from './replicas.ts'

/** Creates a model of random weights whose tokens are bytes, and puts it into the store of Forge. */
const makesModel = `
import os
import gguf
import numpy as np
import forge

width, heads, layers, inner = 64, 4, 2, 128
rng = np.random.default_rng(0)
writer = gguf.GGUFWriter("tiny.gguf", "llama")
writer.add_context_length(4096)
writer.add_embedding_length(width)
writer.add_block_count(layers)
writer.add_feed_forward_length(inner)
writer.add_head_count(heads)
writer.add_head_count_kv(heads)
writer.add_rope_dimension_count(width // heads)
writer.add_layer_norm_rms_eps(1e-5)
words = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % byte for byte in range(256)] + ["\\u2581".encode()]
kinds = [gguf.TokenType.UNKNOWN] + [gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL]
writer.add_tokenizer_model("llama")
writer.add_token_list(words)
writer.add_token_scores([0.0] * len(words))
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_chat_template("{% for one in messages %}{{ one['content'] }}{% endfor %}")

def tensor(name, *shape):
    writer.add_tensor(name + ".weight", (rng.standard_normal(shape) * 0.05).astype(np.float32))

def ones(name):
    writer.add_tensor(name + ".weight", np.ones(width, np.float32))

tensor("token_embd", len(words), width)
for layer in range(layers):
    for name in ("attn_norm", "ffn_norm"):
        ones("blk.%d.%s" % (layer, name))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensor("blk.%d.%s" % (layer, name), width, width)
    for name in ("ffn_gate", "ffn_up"):
        tensor("blk.%d.%s" % (layer, name), inner, width)
    tensor("blk.%d.ffn_down" % layer, width, inner)
ones("output_norm")
tensor("output", len(words), width)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
with forge.init() as run:
    run.log_artifact("merged_model", os.path.abspath("tiny.gguf"), "gguf", 1, upload=True)
`

/** The id of its artifact. */
export async function tinyGguf(forge: Forge): Promise<string> {
  await addArchive(
    forge,
    archiveOf(
      { framework: { ...tinyFile.framework, runtime_id: 'rt_gguf' } },
      { 'train.py': makesModel, 'requirements.txt': 'gguf==0.19.0\n' },
    ),
  )
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny/1.2.0/lock')
  const { body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata: { name: 'makes', project: 'demo' }, lock, spec: {} },
  })
  await untilState(forge, body.run_id, 'succeeded')
  const { body: artifacts } = await forge.call<{ artifact_id: string }[]>(
    'GET',
    `/api/jobs/${body.run_id}/artifacts`,
  )
  return String(artifacts[0]?.artifact_id)
}

/** The id of a deployment that serves it by llama.cpp, and is ready. */
export async function deployedGguf(forge: Forge, name: string): Promise<string> {
  const artifact_id = await tinyGguf(forge)
  const { body: made } = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: {
      ...{ name, source: { kind: 'artifact', artifact_id } },
      serving: { template: 'llama-cpp', params: { threads: 1, parallel: 1 } },
    },
  })
  await until('the engine responds', 200_000, async () => {
    const path = `/api/deployments/${made.deployment_id}`
    const { body } = await forge.call<{ state: string }>('GET', path)
    if (body.state === 'failed') throw new Error(JSON.stringify(body))
    return body.state === 'ready'
  })
  return made.deployment_id
}
