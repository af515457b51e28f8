import test from 'ava'
import OpenAI from 'openai'
import { tinyFile } from '../recipes/tiny-recipe.ts'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { replicasOn, untilSaid, untilState } from './replicas.ts'

/** Creates a model of random weights whose tokens are bytes, and puts it into the store of Forge. */
const makesModel = `
import os
import gguf
import numpy as np
import forge

width, heads, layers, inner = 64, 4, 2, 128
rng = np.random.default_rng(0)
writer = gguf.GGUFWriter("tiny.gguf", "llama")
writer.add_context_length(512)
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

async function madeModel(forge: Forge): Promise<string> {
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

test('llama.cpp serves a GGUF model from the store, for chat, streams and embeddings', async t => {
  t.timeout(patient(500_000), 'environments are built')
  const forge = await startForge(t)
  const artifact_id = await madeModel(forge)
  const replicas = await replicasOn(t, forge)
  const { run_id, base_url } = await replicas.submit({
    ...{ template: 'llama-cpp', artifact_id, served_names: ['tiny'] },
    params: { threads: 1, parallel: 2 },
  })
  await untilState(forge, run_id, 'running')
  await untilSaid(forge, run_id, /fetching art_.*tiny\.gguf/)
  const client = new OpenAI({ baseURL: base_url, apiKey: 'none', maxRetries: 0 })
  const { data } = await client.models.list()
  t.deepEqual(
    data.map(({ id }) => id),
    ['tiny'],
  )
  const asked = { model: 'tiny', messages: [{ role: 'user' as const, content: 'Hello' }] }
  // Its weights are random, and it might end a response early: the most likely token is always the same.
  const likeliest = { ...asked, max_tokens: 12, temperature: 0, seed: 1 }
  const chat = await client.chat.completions.create(likeliest)
  const told = chat.usage?.completion_tokens ?? 0
  t.true(told > 0 && told <= 12, `${told}`)
  const stream = await client.chat.completions.create({
    ...{ ...likeliest, stream: true },
    stream_options: { include_usage: true },
  })
  const usages = []
  for await (const { usage } of stream) if (usage) usages.push(usage.completion_tokens)
  t.is(usages.at(-1), told)
  const embedded = await client.embeddings.create({ model: 'tiny', input: ['one', 'two'] })
  t.deepEqual(
    embedded.data.map(({ embedding }) => embedding.length),
    [64, 64],
  )
  await forge.call('POST', `/api/jobs/${run_id}/stop`)
  await untilState(forge, run_id, 'stopped')
  await untilSaid(forge, run_id, /the engine ended with exit code 0/)
})
