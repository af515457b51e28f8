import type { Api } from '../../api/client.ts'

const model = 'sums-lora'

const config = {
  ...{ peft_type: 'LORA', base_model_name_or_path: 'Qwen/Qwen3-0.6B', r: 8, lora_alpha: 16 },
  target_modules: ['q_proj', 'v_proj'],
}
const card = `---
license: apache-2.0
---
# Sums

An adapter that adds numbers, as a client of the Hub uploads it.
`

/** A model of two versions that a client of the Hub uploaded. */
export async function sendHubModel(ada: Api, owner: string): Promise<void> {
  if ((await ada.find(`/api/models/${model}`)) !== null) return
  await ada.post('/api/hub/api/repos/create', { name: model }, { creates: true })
  const commit = (summary: string, files: Record<string, string>) =>
    ada.post(
      `/api/hub/api/models/${owner}/${model}/commit/main`,
      {
        header: { summary },
        operations: Object.entries(files).map(([path, content]) => ({
          key: 'file',
          value: { path, content, encoding: 'utf-8' },
        })),
      },
      { creates: false },
    )
  await commit('The adapter', { 'adapter_config.json': JSON.stringify(config, null, 2) })
  await commit('A card', { 'README.md': card })
}
