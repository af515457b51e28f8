import { existsSync } from 'node:fs'
import path from 'node:path'
import { DamagedFile } from '../../platform/damaged-file.ts'
import { createDurably, readJson } from '../attempts/durable-json.ts'

type HostRecord = { engine_id: string }

/**
 * The id of this machine, stored next to the attempts that it runs, so that the two move together.
 * A data directory must therefore not be copied to a second host that runs at the same time.
 */
export async function readHostId(dataDir: string, newId: () => string): Promise<string> {
  const file = path.join(dataDir, 'engine.json')
  const known = await idIn(file)
  if (known !== null) return known
  await createDurably(file, { engine_id: newId() } satisfies HostRecord)
  // Another process of this machine may have been first.
  const made = await idIn(file)
  if (made === null) throw new Error(`${file} is gone as soon as it was written`)
  return made
}

const remedy =
  'restore it from a backup of the data directory, or remove it: this machine then counts as another one, and the runs that it had are lost.'

/** Null if the file does not exist. */
async function idIn(file: string): Promise<string | null> {
  const record = await readJson<HostRecord | null>(file, remedy)
  if (record === null && !existsSync(file)) return null
  if (typeof record?.engine_id === 'string' && record.engine_id !== '') return record.engine_id
  throw new DamagedFile(file, JSON.stringify(record), remedy)
}
