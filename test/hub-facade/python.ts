import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { pythonWith } from '../servers/python-packages.ts'

const run = promisify(execFile)

export async function emptyFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-hub-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export type HubVariables = { HF_ENDPOINT: string; HF_TOKEN: string }

/** Runs a script of this folder with the Hub's client, which keeps its own files in a new folder; returns its findings. */
export async function script<T>(
  t: ExecutionContext,
  [name, ...args]: readonly string[],
  env: HubVariables & Record<string, string>,
): Promise<T> {
  const python = await pythonWith(join(import.meta.dirname, 'requirements.txt'))
  const { stdout } = await run(python, [join(import.meta.dirname, name ?? ''), ...args], {
    env: {
      ...{ PATH: process.env.PATH, HF_HOME: await emptyFolder(t), HF_HUB_DISABLE_XET: '1' },
      ...{ HF_HUB_DISABLE_PROGRESS_BARS: '1', HF_HUB_DISABLE_TELEMETRY: '1' },
      ...env,
    },
  })
  return JSON.parse(stdout)
}
