import { storing } from '../artifacts/storing.ts'
import type { Forge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'

export type Moved = {
  version: number | null
  previous_version: number | null
  code: string
  detail: string
}

/** A model with two versions in its own project; the second one's artifact was only announced. */
export async function twoVersions(forge: Forge, name: string) {
  const project = `of-${name}`
  const run = await createRun(forge, project)
  const files = storing(forge, run)
  const first = await files.store(Buffer.from(name), 'a.safetensors', 1, { reward: 0.5 })
  const { body: second } = await files.register({ path: `s3://bucket/${name}`, step: 2 })
  const made = await forge.call('POST', '/api/models', { body: { name, project } })
  if (made.status !== 200) throw new Error(JSON.stringify(made.body))
  const path = `/api/models/${name}`
  for (const { artifact_id } of [first, second])
    await forge.call('POST', `${path}/versions`, { body: { artifact_id } })
  const put = (alias: string, body: object, token = forge.token) =>
    forge.call<Moved>('PUT', `${path}/aliases/${alias}`, { body, token })
  return { project, run, path, put, ids: [first.artifact_id, second.artifact_id] as const }
}
