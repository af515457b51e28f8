import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compiled } from './compiled.ts'
import { copiedBy, copiedVariable, inEachLane, type ServerName } from './hosted.ts'
import { inThisLane, lane } from './lane.ts'
import { isAlive } from './processes.ts'
import { runVariables } from './run-variables.ts'
import { until } from './until.ts'

/** A first start downloads missing parts. */
const readyWithinMs = 180_000

/** Characters of a failed host's log in the message. */
const mostWords = 2000

const runFolder =
  process.env[runVariables.folder] ?? join(tmpdir(), `forge-test-run-${process.pid}`)
const runPid = process.env[runVariables.pid] ?? String(process.pid)

const known = new Map<ServerName, Promise<string>>()

/**
 * The address of a server for this test run, started on the first request. It ends with the run, however that ends.
 */
export function addressOf(name: ServerName): Promise<string> {
  const address = known.get(name) ?? findAddress(name)
  known.set(name, address)
  return address
}

async function findAddress(name: ServerName): Promise<string> {
  const folder = await folderOf(name)
  await mkdir(runFolder, { recursive: true })
  const isFirst = await mkdir(folder).then(
    () => true,
    () => false,
  )
  if (isFirst) await spawnHost(name, folder)
  return await answerIn(name, folder)
}

const folderOf = async (name: ServerName): Promise<string> =>
  join(runFolder, inEachLane.includes(name) ? `${name}-${await lane()}` : name)

async function spawnHost(name: ServerName, folder: string): Promise<void> {
  const run = { [runVariables.folder]: runFolder, [runVariables.pid]: runPid }
  const copied = copiedBy[name]
  const needed = copied === undefined ? {} : { [copiedVariable]: await addressOf(copied) }
  const lane = await inThisLane()
  const env = { ...process.env, ...run, ...lane, ...needed, NODE_COMPILE_CACHE: compiled }
  const script = fileURLToPath(new URL('host.ts', import.meta.url))
  const log = openSync(join(folder, 'host.log'), 'a')
  // Its own process group, so that Ctrl-C does not end the server before its clients.
  const host = spawn(process.execPath, [script, name, folder, runPid], {
    detached: true,
    stdio: ['ignore', log, log],
    env,
  })
  closeSync(log)
  host.unref()
}

/**
 * The host writes `pid` and then `address`, or `fault` with a full sentence. One that ends before that, as a process of
 * Node does after an unhandled error, is reported at once with its log.
 */
export async function answerIn(name: ServerName, folder: string): Promise<string> {
  const log = join(folder, 'host.log')
  const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => null)
  return await until(`${name} is up (see ${log})`, readyWithinMs, async () => {
    const pid = await read('pid')
    const isEnded = pid !== null && !isAlive(Number(pid))
    const fault = await read('fault')
    if (fault) throw new Error(fault)
    const address = await read('address')
    if (address === null && isEnded) {
      const words = (await read('host.log')) ?? ''
      throw new Error(`the host of ${name} ended before it was up: ${words.slice(0, mostWords)}`)
    }
    return address
  })
}
