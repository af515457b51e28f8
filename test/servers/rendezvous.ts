import { spawn } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ServerName, variables } from './hosted.ts'
import { until } from './until.ts'

type Answer = { address: string } | { fault: string }

/** A first start fetches what is missing. */
const readyWithinMs = 180_000
const goneWithinMs = 30_000

/**
 * The address of a server for this test run: the one `npm test` has started, or one that the first to
 * ask starts for the whole process of ava. It ends with that process, however that ends.
 */
export async function addressOf(name: ServerName): Promise<string> {
  const given = process.env[variables[name]]
  if (given) return given
  const folder = join(tmpdir(), `forge-test-${process.pid}-${name}`)
  const isFirst = await mkdir(folder).then(
    () => true,
    () => false,
  )
  if (isFirst) spawnHost(name, folder)
  const answer = await answerIn(folder)
  if ('fault' in answer) throw new Error(answer.fault)
  return answer.address
}

export type Host = {
  /** Resolves once the server is up, or has failed to start. */
  answer(): Promise<Answer>
  /** Resolves when the server and its folder are gone. */
  stop(): Promise<void>
}

/** Hosts a server in a folder that is made for it, until `stop` or the end of this process. */
export async function startHost(name: ServerName, folder: string): Promise<Host> {
  await mkdir(folder)
  const host = spawnHost(name, folder)
  return {
    answer: () => answerIn(folder),
    async stop() {
      host.kill('SIGTERM')
      await until(
        `${name} has stopped`,
        goneWithinMs,
        () => host.exitCode !== null || host.signalCode,
      )
    },
  }
}

function spawnHost(name: ServerName, folder: string) {
  const script = fileURLToPath(new URL('host.ts', import.meta.url))
  // Its own process group, so that Ctrl-C does not end the server before its clients.
  const host = spawn(process.execPath, [script, name, folder, String(process.pid)], {
    detached: true,
    stdio: 'ignore',
  })
  host.unref()
  return host
}

/** The host writes `address`, or `fault` with a full sentence. */
async function answerIn(folder: string): Promise<Answer> {
  const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => null)
  return await until('the server is up', readyWithinMs, async () => {
    const fault = await read('fault')
    if (fault) return { fault }
    const address = await read('address')
    return address ? { address } : null
  })
}
