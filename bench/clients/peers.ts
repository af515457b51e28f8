import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../platform/free-port.ts'
import { until } from '../../test/servers/until.ts'

const run = promisify(execFile)

/** An interpreter with the libraries that Forge is compared with, in this folder of `bench/`; installed once. */
export async function peersPython(of = 'clients'): Promise<string> {
  const requirements = join(import.meta.dirname, '..', of, 'requirements.txt')
  const folder = join(homedir(), `.cache/forge/bench-${of}`)
  const python = join(folder, 'bin/python')
  if (!existsSync(python)) {
    console.error(`installing ${requirements} into ${folder}; takes a minute or two`)
    await run('python3', ['-m', 'venv', folder])
  }
  await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', requirements], {
    maxBuffer: 10_000_000,
  })
  return python
}

export type PeerServer = { address: string; stop(): Promise<void> }

/** Trackio's own server, which keeps a SQLite file; its address carries the token for writing. */
export async function startTrackio(python: string, folder: string): Promise<PeerServer> {
  const command = [join(python, '../trackio'), 'show', '--host', '127.0.0.1']
  const server = startPeer(command, { TRACKIO_DIR: folder, BROWSER: 'true', HF_HUB_OFFLINE: '1' })
  const address = () => /http:\S+write_token=\S+/.exec(server.output())?.[0] ?? null
  await until('Trackio says its address', 60_000, async () => address() !== null)
  return { address: String(address()), stop: server.stop }
}

/** MLflow's own server, with SQLite, as its manual starts it. */
export async function startMlflow(python: string, folder: string): Promise<PeerServer> {
  const port = await freePort()
  const store = ['--backend-store-uri', `sqlite:///${folder}/mlflow.db`]
  const artifacts = ['--artifacts-destination', join(folder, 'artifacts')]
  const at = ['--host', '127.0.0.1', '--port', String(port)]
  const command = [python, '-m', 'mlflow', 'server', ...store, ...artifacts, ...at]
  const server = startPeer(command, { PATH: `${join(python, '..')}:${process.env.PATH}` })
  const address = `http://127.0.0.1:${port}`
  const isUp = () =>
    fetch(`${address}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('MLflow responds', 120_000, isUp)
  return { address, stop: server.stop }
}

/** In a separate process group, because both start processes themselves. */
export function startPeer(command: readonly string[], env: Record<string, string>) {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONUNBUFFERED: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output = (output + chunk).slice(-20_000)
    })
  return {
    pid: child.pid ?? null,
    output: () => output,
    async stop() {
      if (child.exitCode !== null || child.pid === undefined) return
      const closed = once(child, 'close')
      process.kill(-child.pid, 'SIGKILL')
      await closed
    },
  }
}

/** Metrics of all rows that Trackio keeps for a run. */
export async function countTrackio(python: string, folder: string, name: string): Promise<number> {
  const code = `import json, sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute("select metrics from metrics where run_name = ?", (sys.argv[2],))
print(sum(len(json.loads(metrics)) for (metrics,) in rows))`
  const { stdout } = await run(python, ['-c', code, join(folder, 'bench.db'), name])
  return Number(stdout)
}

export async function countMlflow(python: string, folder: string, runId: string): Promise<number> {
  const code = `import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("select count(*) from metrics where run_uuid = ?", (sys.argv[2],)).fetchone()[0])`
  const { stdout } = await run(python, ['-c', code, join(folder, 'mlflow.db'), runId])
  return Number(stdout)
}
