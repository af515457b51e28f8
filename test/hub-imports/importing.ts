import type { HubFile, HubImportRow } from '../../schemas/hub-imports.ts'
import type { Forge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

type Calls = Pick<Forge, 'call'>
export type Import = HubImportRow & { files: HubFile[] }
export type Made = Import & { created: boolean; detail: string; code: string }

export const begin = (forge: Calls, ref: string, token?: string) =>
  forge.call<Made>('POST', '/api/hub-imports', {
    body: { ref },
    ...(token !== undefined && { token }),
  })

/** Waits until an import is ready, or has failed. */
export const untilEnded = (forge: Calls, import_id: string, token?: string) =>
  until('the import has ended', 150_000, async () => {
    const { status, body } = await forge.call<Import>('GET', `/api/hub-imports/${import_id}`, {
      ...(token !== undefined && { token }),
    })
    return status === 200 && ['ready', 'failed'].includes(body.state) && body
  })

/** Begins an import and waits for its end. */
export async function imported(forge: Calls, ref: string, token?: string): Promise<Import> {
  const { status, body } = await begin(forge, ref, token)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return untilEnded(forge, body.import_id, token)
}
