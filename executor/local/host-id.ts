import path from 'node:path'
import { createDurably, readJson } from '../attempts/durable-json.ts'

type HostRecord = { engine_id: string }

/**
 * The id of this machine, stored next to the attempts that it runs, so that the two move together.
 * A data directory must therefore not be copied to a second host that runs at the same time.
 */
export async function readHostId(dataDir: string, newId: () => string): Promise<string> {
  const file = path.join(dataDir, 'engine.json')
  const known = await readJson<HostRecord>(file)
  if (known) return known.engine_id
  await createDurably(file, { engine_id: newId() } satisfies HostRecord)
  // Another process of this machine may have been first.
  const made = await readJson<HostRecord>(file)
  if (!made) throw new Error(`${file} is gone as soon as it was written`)
  return made.engine_id
}
