import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address, Report } from './ingest.ts'
import { spoolRootOf } from './spool-root.ts'

/** The run to create for reports that are older than it: the body of POST /api/runs. */
export type Claim = { host: string; body: Record<string, unknown> }

/** The run's folder of unsent reports, shared with the Python client, which also sends them later (`forge sync`). */
export type Spool = {
  folder: string
  /** The folder of the folders of all runs. */
  root: string
  /** It is no folder of the home directory, which cannot hold it. */
  isTemporary: boolean
  /** Bytes of output that a process may keep on disk (FORGE_SPOOL_MB). */
  maxBytes: number
  /** The run id that the reports in it carry: a local one if they are older than the run. */
  reportId: string
  /** The address, if another process has created the run by now. */
  address(): Promise<Address | null>
  /** Leaves the address for the processes of the command, or how to get one. */
  note(address: Address): Promise<void>
  /** Keeps reports that could not be sent; `beganMs` puts them in order with those of other processes. */
  keep(reports: readonly Report[], beganMs: number): Promise<void>
  /** Removes the folder, and the token with it, unless reports are left in it. */
  leave(): Promise<void>
}

type Env = Record<string, string | undefined>

/** Stands for the token of a run that does not exist yet. */
export const unclaimed = 'unclaimed'

const noteFile = 'run.json'

/** A run id before there is one, and the Idempotency-Key under which the run is created. */
export const newLocalId = (nowMs: number): string =>
  `local_${digits13(nowMs)}_${randomBytes(8).toString('hex')}`

export function openSpool(env: Env, reportId: string, claim: Claim | null): Spool {
  const { path: root, isTemporary } = spoolRootOf(env)
  const folder = join(root, reportId.replaceAll(/[^A-Za-z0-9_-]/g, '_'))
  const note = async ({ endpoint, run_id, token }: Address): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const kept = {
      ...{ endpoint, run_id, token },
      ...(run_id !== reportId && { local_id: reportId }),
      ...(claim !== null && { claim }),
    }
    await replaceFile(join(folder, noteFile), JSON.stringify(kept))
  }
  return {
    ...{ folder, root, isTemporary, maxBytes: maxMegabytes(env) * 1024 * 1024 },
    reportId,
    note,
    async address() {
      const text = await readFile(join(folder, noteFile), 'utf8').catch(() => 'null')
      const { endpoint, run_id, token } = addressIn(text)
      return endpoint && run_id && token && token !== unclaimed ? { endpoint, run_id, token } : null
    },
    async keep(reports, beganMs) {
      const name = `${digits13(beganMs)}-${process.pid}-${randomBytes(3).toString('hex')}.000001.jsonl`
      const lines = reports.map(({ route, body }) =>
        JSON.stringify({ route, points: 1, body: { run_id: reportId, ...body } }),
      )
      await replaceFile(join(folder, name), `${lines.join('\n')}\n`)
    },
    async leave() {
      const left = await readdir(folder).catch(() => null)
      if (left?.every(name => name === noteFile)) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Empty for a damaged note: the run is claimed once more, which creates no second one. */
function addressIn(text: string): Partial<Address> {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

/** As the Python client reads it. */
function maxMegabytes({ FORGE_SPOOL_MB: text = '' }: Env): number {
  return /^\d{1,7}$/.test(text.trim()) ? Number(text) || 64 : 64
}

const digits13 = (ms: number): string => String(ms).padStart(13, '0')

/** Readers see all of it or nothing. */
async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}`
  await writeFile(next, text, { mode: 0o600 })
  await rename(next, path)
}
