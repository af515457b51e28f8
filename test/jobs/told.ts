import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

/** What lets a script wait for its test instead of for a time that a slow machine needs for something else. */
export type Told = {
  /** A command of the shell that ends once the script is told to go on. */
  wait: string
  goOn(): Promise<void>
}

export function told(t: ExecutionContext): Told {
  const file = join(tmpdir(), `forge-go-${randomUUID()}`)
  t.teardown(() => rm(file, { force: true }))
  return {
    wait: `until [ -e ${file} ]; do sleep 0.05; done`,
    goOn: () => writeFile(file, ''),
  }
}
