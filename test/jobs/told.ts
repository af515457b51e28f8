import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

/** Lets a script wait for its test instead of for a fixed time, which a slow machine may exceed. */
export type Told = {
  /** A shell command that ends once the test releases the script. */
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
