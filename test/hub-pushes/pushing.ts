import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { create } from 'tar'
import type { HubPushRow } from '../../schemas/hub-pushes.ts'
import { storing } from '../artifacts/storing.ts'
import type { Forge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Calls = Pick<Forge, 'call'>
export type Push = HubPushRow & { card: string; detail: string; code: string }

/** Packed as clients do. */
export async function packed(files: Record<string, Buffer | string>): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'forge-push-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    const file = join(folder, '.packed')
    await create({ cwd: folder, gzip: { level: 0 }, file, portable: true }, Object.keys(files))
    return await readFile(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A stored export of a run. */
export async function exported(
  forge: Calls,
  files: Record<string, Buffer | string>,
  { project = 'of-pushes', metrics = {}, kind = 'hf_export' } = {},
) {
  const run = await createRun(forge, project)
  const bytes = await packed(files)
  const { ask, register } = storing(forge, run)
  const facts = { kind, format: 'safetensors', step: 1 }
  const { body: target } = await ask({
    ...facts,
    ...{ filename: 'model.folder.tar.gz', size_bytes: bytes.length },
  })
  const headers = target.headers
  await fetch(target.url, { method: 'PUT', headers, body: new Uint8Array(bytes) })
  const { upload_id, path } = target
  const { body } = await register({ ...facts, path, upload_id, metrics })
  return { run, artifact_id: body.artifact_id }
}

export const setToken = (forge: Calls, value: string, token?: string) =>
  forge.call('PUT', '/api/secrets/HF_TOKEN', { body: { value }, ...(token && { token }) })

export const push = (forge: Calls, body: object, token?: string) =>
  forge.call<Push>('POST', '/api/hub-pushes', { body, ...(token && { token }) })

export const pushOf = async (forge: Calls, push_id: string): Promise<Push> =>
  (await forge.call<Push>('GET', `/api/hub-pushes/${push_id}`)).body

export const untilOver = (forge: Calls, push_id: string): Promise<Push> =>
  until('the push is over', 120_000, async () => {
    const found = await pushOf(forge, push_id)
    return !['requested', 'sending'].includes(found.state) && found
  })

export const weights = (): Buffer => randomBytes(200_000)
