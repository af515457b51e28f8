import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../platform/free-port.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { ServingTables } from '../../test/gateway/stage.ts'
import { until } from '../../test/servers/until.ts'
import { peersPython, startPeer } from '../clients/peers.ts'
import { databaseUrl } from '../rig/database.ts'
import { startServer } from '../rig/server.ts'

/** A way to the engine: directly, or through a gateway. */
export type Way = {
  name: string
  origin: string
  /** Before `/v1`. */
  path: string
  token: string
  /** Null where nothing stands in between. */
  pid: number | null
  stop(): Promise<void>
}

export async function startEngine(): Promise<Way> {
  const child = fork(join(import.meta.dirname, 'engine.ts'))
  const [port] = (await once(child, 'message')) as [number]
  return {
    ...{ name: 'straight', origin: `http://127.0.0.1:${port}`, path: '', token: 'none', pid: null },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** One process with the role `gateway` alone, on the database of another. */
export async function startForge(engine: Way): Promise<Way> {
  const home = await startServer({ env: { SERVICE_ROLES: 'command-api' } })
  const url = await databaseUrl(home.dataDir)
  const pool = createPool(url, { max: 1, applicationName: 'forge bench' })
  const tables = new ServingTables(pool)
  await tables.deploy('dep_bench', 'rev_bench', [engine.origin])
  const { token } = await tables.token('dep_bench')
  await pool.end()
  const env = { SERVICE_ROLES: 'gateway', SERVICE_DATABASE_URL: url }
  const gateway = await startServer({ env })
  return {
    ...{ name: 'Forge', origin: gateway.url, path: '/inference/dep_bench', token },
    pid: gateway.pid(),
    async stop() {
      for (const server of [gateway, home]) {
        await server.stop()
        await server.remove()
      }
    },
  }
}

/** LiteLLM's proxy without its database, so with one key: less work than it has in use. */
export async function startLitellm(engine: Way): Promise<Way> {
  const python = await peersPython('gateway')
  const folder = await mkdtemp(join(tmpdir(), 'forge-litellm-'))
  const config = join(folder, 'config.yaml')
  const params = `{ model: openai/m, api_base: "${engine.origin}/v1", api_key: none }`
  await writeFile(config, `model_list: [{ model_name: m, litellm_params: ${params} }]\n`)
  const port = await freePort()
  const token = `sk-${randomUUID()}`
  const at = ['--host', '127.0.0.1', '--port', String(port), '--num_workers', '1']
  const server = startPeer([join(python, '../litellm'), '--config', config, ...at], {
    PATH: `${join(python, '..')}:${process.env.PATH}`,
    LITELLM_MASTER_KEY: token,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LITELLM_LOG: 'ERROR',
  })
  const origin = `http://127.0.0.1:${port}`
  const isUp = () =>
    fetch(`${origin}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('LiteLLM responds', 90_000, isUp).catch(error => {
    throw new Error(server.output(), { cause: error })
  })
  return {
    ...{ name: 'LiteLLM', origin, path: '', token, pid: server.pid },
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
