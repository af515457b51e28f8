import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isolationAt } from './bench.ts'

const modes = ['bubblewrap', 'user', 'landlock'] as const
export type TestedIsolation = (typeof modes)[number]

/** Why each isolation does not hold for this user on this machine; null if it does. */
export async function whatHolds(): Promise<Record<TestedIsolation, string | null>> {
  const directory = await mkdtemp(path.join(tmpdir(), 'forge-isolation-'))
  const found = { bubblewrap: null, user: null, landlock: null } as Record<string, string | null>
  for (const mode of modes)
    found[mode] = await isolationAt(path.join(directory, 'runs'), mode).then(
      () => null,
      (error: Error) => error.message,
    )
  await rm(directory, { recursive: true, force: true })
  return found as Record<TestedIsolation, string | null>
}
