import { createHash } from 'node:crypto'
import type { Artifact } from '../../schemas/artifacts/artifacts.ts'
import type { Forge } from '../servers/forge.ts'
import type { ExternalRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

export type Target = {
  upload_id: string
  method: string
  url: string
  headers: Record<string, string>
  path: string
  exists: boolean
  received_bytes: number
  max_bytes: number
}
export type Registered = { artifact_id: string; created: boolean; status: string }

export const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The steps of running code with a file. */
export function storing({ call }: Pick<Forge, 'call'>, { run_id, token }: ExternalRun) {
  const facts = { run_id, kind: 'checkpoint', format: 'safetensors' }
  const ask = (query: Record<string, string | number>) => {
    const all = Object.entries({ ...facts, ...query }).map(([name, value]) => [name, String(value)])
    const path = `/api/ingest/artifact/upload-url?${new URLSearchParams(all)}`
    return call<Target & { detail: unknown; code: string }>('GET', path, { token })
  }
  const register = (body: object) =>
    call<Registered & { detail: unknown; code: string }>('POST', '/api/ingest/artifact', {
      token,
      body: { ...facts, ...body },
    })
  return {
    ask,
    register,
    /** Announces, sends and registers; returns the artifact once it is verified. */
    async store(bytes: Buffer, filename: string, step: number, metrics = {}): Promise<Artifact> {
      const sha256 = digestOf(bytes)
      const { body: target } = await ask({ filename, size_bytes: bytes.length, step, sha256 })
      const { status } = await fetch(target.url, {
        method: target.method,
        headers: target.headers,
        body: new Uint8Array(bytes),
      })
      if (status !== 200) throw new Error(`the upload returned ${status}`)
      const { upload_id, path } = target
      const registered = await register({ path, upload_id, step, metrics })
      if (registered.status !== 200) throw new Error(JSON.stringify(registered.body))
      return untilIs({ call }, registered.body.artifact_id, 'verified')
    },
  }
}

/** The artifact, once it is in this state. */
export const untilIs = (
  { call }: Pick<Forge, 'call'>,
  artifact_id: string,
  status: Artifact['status'],
): Promise<Artifact> =>
  until(`${artifact_id} is ${status}`, 30_000, async () => {
    const { body } = await call<Artifact>('GET', `/api/artifacts/${artifact_id}`)
    return body.status === status && body
  })
