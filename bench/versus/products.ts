import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { signIn } from '../../test/servers/api.ts'
import { serverProcess } from '../../test/servers/server-process.ts'
import { peersPython, startMlflow, startTrackio } from '../clients/peers.ts'
import type { ExternalRun } from '../rig/api.ts'
import { bestOf, liveName, project, type Sample } from './data.ts'
import { fillForge } from './fill-forge.ts'

export type Name = 'forge' | 'mlflow' | 'trackio'
export const names: readonly Name[] = ['forge', 'mlflow', 'trackio']

export type Product = {
  name: Name
  address: string
  /** Logs a point of the live run by the product's own client; returns when, in milliseconds of the epoch. */
  log(step: number): Promise<number>
  stop(): Promise<void>
}

const run = promisify(execFile)
const pythonClient = join(import.meta.dirname, '../../clients/python/src')

/** The servers of these products with the same data, which is sent only where the folder does not hold it yet. */
export async function startProducts(
  folder: string,
  samples: readonly Sample[],
  among: readonly Name[],
): Promise<Map<Name, Product>> {
  const python = await peersPython()
  const data = join(folder, 'data.json')
  await mkdir(folder, { recursive: true })
  const best = bestOf(samples).name
  await writeFile(data, JSON.stringify(samples.map(sample => ({ ...sample, best }))))
  const start = {
    forge: () => ofForge(samples, join(folder, 'forge')),
    mlflow: () => ofMlflow(python, data, join(folder, 'mlflow')),
    trackio: () => ofTrackio(python, data, join(folder, 'trackio')),
  }
  const started = new Map<Name, Product>()
  for (const name of among) started.set(name, await start[name]())
  return started
}

/** The id of the live run; `fill` runs once for a folder. */
async function filled(folder: string, fill: () => Promise<string>): Promise<string> {
  const mark = join(folder, 'live.json')
  if (!existsSync(mark)) await writeFile(mark, await fill())
  return readFile(mark, 'utf8')
}

async function ofForge(samples: readonly Sample[], folder: string): Promise<Product> {
  await mkdir(folder, { recursive: true })
  const server = await serverProcess({ folder })
  await server.start()
  const token = await signIn(server.url)
  const fill = async () => JSON.stringify(await fillForge({ url: server.url, token }, samples))
  const live: ExternalRun = JSON.parse(await filled(folder, fill))
  const client = startClient('python3', 'forge', {
    PYTHONPATH: pythonClient,
    SERVICE_ENABLED: '1',
    SERVICE_ENDPOINT: `${server.url}/api/ingest`,
    SERVICE_RUN_ID: live.run_id,
    SERVICE_TOKEN: live.token,
  })
  const stop = async () => {
    client.end()
    await server.stop()
  }
  return { name: 'forge', address: server.url, log: client.log, stop }
}

async function ofTrackio(python: string, data: string, folder: string): Promise<Product> {
  await mkdir(folder, { recursive: true })
  await filled(folder, () => fillPeer(python, ['trackio', data, folder]))
  const server = await startTrackio(python, folder)
  const client = startClient(python, 'trackio', {
    TRACKIO_DIR: folder,
    BENCH_PROJECT: project,
    BENCH_RUN: liveName,
  })
  return {
    name: 'trackio',
    address: server.address,
    log: client.log,
    stop: stopBoth(client, server),
  }
}

async function ofMlflow(python: string, data: string, folder: string): Promise<Product> {
  await mkdir(folder, { recursive: true })
  const server = await startMlflow(python, folder)
  const database = `sqlite:///${folder}/mlflow.db`
  const text = await filled(folder, () =>
    fillPeer(python, ['mlflow', data, server.address], { DATABASE: database }),
  )
  const { live } = JSON.parse(text) as { live: string }
  const client = startClient(python, 'mlflow', { BENCH_ADDRESS: server.address, BENCH_RUN: live })
  return {
    name: 'mlflow',
    address: server.address,
    log: client.log,
    stop: stopBoth(client, server),
  }
}

const stopBoth = (client: { end(): void }, server: { stop(): Promise<void> }) => async () => {
  client.end()
  await server.stop()
}

const fillWithinMs = 1_200_000

async function fillPeer(
  python: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const filler = join(import.meta.dirname, 'fill_peers.py')
  const { stdout } = await run(python, [filler, ...args], {
    env: { ...process.env, PATH: `${join(python, '..')}:${process.env.PATH}`, ...env },
    maxBuffer: 10_000_000,
    timeout: fillWithinMs,
  })
  return stdout.trim().split('\n').at(-1) ?? ''
}

/** A program that logs with the client of a product; started when it is first used. */
function startClient(python: string, product: Name, env: Record<string, string>) {
  let child: ChildProcessByStdio<Writable, Readable, null> | null = null
  let lines: AsyncIterator<string> | null = null
  const start = async () => {
    child = spawn(python, [join(import.meta.dirname, 'live.py'), product], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    await lines.next()
  }
  return {
    async log(step: number): Promise<number> {
      if (child === null) await start()
      child?.stdin.write(`${step}\n`)
      return Number((await lines?.next())?.value)
    },
    end: () => child?.stdin.end(),
  }
}
