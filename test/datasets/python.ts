import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { pythonWith } from '../servers/python-packages.ts'

const run = promisify(execFile)

export async function emptyFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-datasets-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return folder
}

/** Runs a command of `reference.py` in a folder, and returns its output. */
export async function reference(command: 'parquet' | 'tokens', folder: string): Promise<string> {
  const python = await pythonWith(join(import.meta.dirname, 'requirements.txt'))
  const { stdout } = await run(python, [join(import.meta.dirname, 'reference.py'), command, folder])
  return stdout
}

export const jsonIn = async (path: string) => JSON.parse(await readFile(path, 'utf8'))
