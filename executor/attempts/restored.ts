import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { attemptPaths } from './attempt-directory.ts'
import { readJson, writeDurably } from './durable-json.ts'
import { unfinishedIn } from './run-directory.ts'

/** What a restored record has instead of the id of a boot: no machine ever has it. */
const noBoot = 'restored'

/**
 * Makes the unfinished attempts in a restored folder of runs count as lost. Their records name the processes of the
 * original: on the same machine these may still run, and an executor that took them for its own would kill them.
 */
export async function disownAttempts(runsDirectory: string): Promise<void> {
  for (const ref of await unfinishedIn(runsDirectory)) {
    const { directory } = attemptPaths(path.join(runsDirectory, ref))
    for (const name of await readdir(directory))
      if (/^(launch|started|claim-\d+)\.json$/.test(name)) await disown(path.join(directory, name))
  }
}

async function disown(file: string): Promise<void> {
  const record = await readJson<unknown>(file)
  const text = JSON.stringify(record, (key, value) => (key === 'boot_id' ? noBoot : value))
  await writeDurably(file, JSON.parse(text))
}
