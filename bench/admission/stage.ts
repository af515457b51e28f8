import type { Client } from 'pg'
import { askApi, callApi, signIn } from '../../test/servers/api.ts'
import { until } from '../../test/servers/until.ts'
import type { LoadResult } from '../load/plan.ts'
import { runLoad } from '../load/start.ts'
import { connect, databaseUrl, findPostmaster } from '../rig/database.ts'
import { type Server, startServer } from '../rig/server.ts'
import { type Case, casesOf, gpusPerNode, lockPath } from './cases.ts'

/** A server to submit to, and connections to its database. */
export type Stage = {
  /** The folder of the checkout. */
  checkout: string
  url: string
  databaseUrl: string
  cases: readonly Case[]
  clients: readonly Client[]
  /** Sends the calls of a case as fast as the server responds. */
  load(work: Case, seconds: number): Promise<LoadResult>
  /** Resolves when the read side knows every job. */
  settled(): Promise<void>
  pids(): Promise<{ server: number; postgres: number }>
  close(): Promise<void>
}

export type StageOptions = {
  checkout: string
  nodeFlags: readonly string[]
  connections: number
  /** Jobs in the queue before anything is measured. */
  queued: number
}

const settledWithinMs = 120_000

/** Without the executor, jobs stay in the queue, and only their admission and projection are measured. */
const env = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }

export async function openStage(options: StageOptions): Promise<Stage> {
  const { checkout, nodeFlags } = options
  const server = await startServer({ env, nodeFlags, checkout })
  const close = async () => {
    await server.stop()
    await server.remove()
  }
  try {
    const stage = await stageOn(server, options, close)
    await tryCases(server.url, stage.cases)
    await fillQueue(stage, options.queued)
    return stage
  } catch (error) {
    await close()
    throw error
  }
}

async function stageOn(
  server: Server,
  { checkout, connections }: StageOptions,
  closeServer: () => Promise<void>,
): Promise<Stage> {
  const { url, dataDir } = server
  const token = await prepare(url)
  const lock = await askApi(url, 'GET', lockPath, { token })
  const clients = await Promise.all(Array.from({ length: connections }, () => connect(dataDir)))
  const { hostname: host, port } = new URL(url)
  return {
    checkout,
    url,
    databaseUrl: await databaseUrl(dataDir),
    cases: casesOf(token, lock),
    clients,
    load: ({ calls }, seconds) =>
      runLoad({
        host,
        port: Number(port),
        work: { calls },
        connections,
        seconds,
        resent: 0,
        rate: null,
      }),
    async settled() {
      const projected =
        'select (select count(*) from read.jobs) = (select count(*) from write.job_state) as all'
      const look = async () => (await firstOf(clients).query(projected)).rows[0].all
      await until('the read side knows every job', settledWithinMs, look)
    },
    async pids() {
      const postmaster = await findPostmaster(dataDir)
      const pid = server.pid()
      if (pid === null || postmaster === null) throw new Error('the server has ended')
      return { server: pid, postgres: postmaster.pid }
    },
    async close() {
      await Promise.all(clients.map(client => client.end()))
      await closeServer()
    },
  }
}

/** Registers hardware and sets a quota that never limits; returns the admin's token. */
export async function prepare(url: string): Promise<string> {
  const token = await signIn(url)
  await askApi(url, 'PUT', '/api/admin/profiles/local', {
    token,
    body: { series: 'local', gpus_per_node: gpusPerNode, executor: 'local' },
  })
  await askApi(url, 'POST', '/api/admin/quotas', {
    token,
    body: { username: 'admin', max_concurrent_gpus: 1_000_000, max_concurrent_jobs: 1_000_000 },
  })
  return token
}

/** A case that is refused, or passes when it should not, would measure something else. */
async function tryCases(url: string, cases: readonly Case[]): Promise<void> {
  for (const { name, calls, expected } of cases)
    for (const { method, path, ...call } of calls) {
      const { status, body } = await callApi(url, method, path, call)
      if (status !== expected)
        throw new Error(`${name}: ${status} instead of ${expected}, ${JSON.stringify(body)}`)
    }
}

/**
 * Each submit returns its place, and the count stops at 2,000 jobs ahead: behind that many, the cases cost the same
 * however many jobs the earlier ones submitted. Warms up the server, too.
 */
async function fillQueue(stage: Stage, wanted: number): Promise<void> {
  const [submit] = stage.cases
  if (!submit) throw new Error('no case to fill the queue with')
  const queued = async () => {
    const text = `select count(*)::int as jobs from write.job_state where state = 'queued'`
    return (await firstOf(stage.clients).query<{ jobs: number }>(text)).rows[0]?.jobs ?? 0
  }
  for (let before = await queued(); before < wanted; ) {
    await stage.load(submit, 1)
    const now = await queued()
    if (now === before) throw new Error('no job was submitted within a second')
    before = now
  }
  await stage.settled()
}

function firstOf(clients: readonly Client[]): Client {
  const [client] = clients
  if (!client) throw new Error('no connection to the database')
  return client
}
