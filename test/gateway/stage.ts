import { randomBytes } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import Koa from 'koa'
import type { ClientBase, Pool } from 'pg'
import { engineHeaders } from '../../auth/engine-header.ts'
import { judgeTokens } from '../../auth/judge-token.ts'
import { createOpaqueToken } from '../../auth/opaque-token.ts'
import type { CapturedPair } from '../../gateway/capture/pair.ts'
import { createGateway } from '../../gateway/gateway.ts'
import { ServingMap } from '../../gateway/map.ts'
import { openPlayground } from '../../gateway/playground.ts'
import { listen } from '../../platform/http/server.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import type { TrafficRow } from '../../schemas/traffic.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

export type Stage = {
  url: string
  port: number
  pool: Pool
  tables: ServingTables
  /** The recorded requests of valid tokens. */
  rows: TrafficRow[]
  captured: CapturedPair[]
  /** Pairs that could not be captured. */
  dropped: { count: number }
  /** How many requests the gateway has taken and not ended. */
  underWay(): number
  /** Resolves once no request is under way in the gateway. */
  idle(): Promise<void>
}

/** How long callers may take, in milliseconds. */
export type Times = { silentMs?: number; arrivalMs?: number }

/** A gateway on a real listener and a real database, whose clock and records the test sees. */
export async function openStage(t: ExecutionContext, times: Times = {}): Promise<Stage> {
  const { silentMs = 60_000, arrivalMs } = times
  const { pool } = await database(t)
  const rows: TrafficRow[] = []
  const captured: CapturedPair[] = []
  const dropped = { count: 0 }
  const under = new Set<unknown>()
  let count = 0
  const gateway = createGateway({
    map: new ServingMap(pool),
    engineHeaders: engineHeaders(Buffer.alloc(32)),
    judgeTokens: judgeTokens(Buffer.alloc(32)),
    record: row => void rows.push(row),
    capture: { keep: pair => void captured.push(pair), dropped: () => void dropped.count++ },
    hasRoom: () => true,
    newRequestId: () => `req_${++count}`,
    now: () => new Date(),
    clock: () => performance.now(),
    silentMs,
    addressOf: ({ socket }) => socket.remoteAddress ?? '',
    isDraining: () => false,
    playground: openPlayground({ pool, personOf: async token => token || null }),
    observed: { judged() {}, answered() {}, unreached() {} },
    failed() {},
  })
  const listener = await listen('127.0.0.1', 0, arrivalMs)
  listener.serve(new Koa(), (req, res) => {
    under.add(res)
    res.once('close', () => under.delete(res))
    return gateway.take(req, res)
  })
  t.teardown(() => gateway.close())
  t.teardown(() => listener.close())
  return {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    pool,
    tables: new ServingTables(pool),
    ...{ rows, captured, dropped },
    underWay: () => under.size,
    idle: () => until('no request is under way', 10_000, () => under.size === 0).then(() => {}),
  }
}

export type Limits = { max_body_bytes?: number; timeout_s?: number; max_concurrency?: number }

/** Writes what gateways read, as the write side does: each change takes the next epoch in its transaction. */
export class ServingTables {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  change<T>(work: (client: ClientBase, epoch: number) => Promise<T>): Promise<T> {
    return inTransaction(this.#pool, async client => {
      const { rows } = await client.query<{ epoch: number }>(
        'update write.serving_epoch set epoch = epoch + 1 returning epoch',
      )
      return await work(client, rows[0]?.epoch ?? 0)
    })
  }

  /** Replicas of a revision; the deployment serves this revision from now on. */
  async deploy(
    deployment_id: string,
    revision_id: string,
    urls: readonly string[],
    { max_body_bytes = 16 * 1024 * 1024, timeout_s = 600, max_concurrency = 1000 }: Limits = {},
  ): Promise<void> {
    await this.change(async (client, epoch) => {
      for (const [at, url] of urls.entries())
        await client.query(
          `insert into write.replica_route (replica_id, deployment_id, revision_id, base_url, is_ready, epoch)
           values ($1, $2, $3, $4, true, $5)`,
          [`rep_${revision_id}_${at}`, deployment_id, revision_id, url, epoch],
        )
      await client.query(
        `insert into write.deployment_route
           (deployment_id, state, revision_id, max_body_bytes, timeout_s, max_concurrency, epoch)
         values ($1, 'serving', $2, $3, $4, $5, $6)
         on conflict (deployment_id) do update set revision_id = excluded.revision_id, epoch = excluded.epoch`,
        [deployment_id, revision_id, max_body_bytes, timeout_s, max_concurrency, epoch],
      )
    })
  }

  async promote(deployment_id: string, revision_id: string): Promise<void> {
    await this.change((client, epoch) =>
      client.query(
        'update write.deployment_route set revision_id = $2, epoch = $3 where deployment_id = $1',
        [deployment_id, revision_id, epoch],
      ),
    )
  }

  async setState(deployment_id: string, state: 'serving' | 'suspended' | 'deleted'): Promise<void> {
    await this.change((client, epoch) =>
      client.query(
        'update write.deployment_route set state = $2, epoch = $3 where deployment_id = $1',
        [deployment_id, state, epoch],
      ),
    )
  }

  async allow(deployment_id: string, allowed_origins: readonly string[]): Promise<void> {
    await this.change((client, epoch) =>
      client.query(
        'update write.deployment_route set allowed_origins = $2, epoch = $3 where deployment_id = $1',
        [deployment_id, allowed_origins, epoch],
      ),
    )
  }

  async token(
    deployment_id: string,
    captures = false,
  ): Promise<{ token: string; token_id: string }> {
    const id = randomBytes(13).toString('hex').toUpperCase()
    const { token, sha256 } = createOpaqueToken('fdt', id)
    const token_id = `dtk_${id}`
    await this.change((client, epoch) =>
      client.query(
        `insert into auth.deployment_token
           (token_id, secret_sha256, deployment_id, name, note, created_by, created_at, epoch, captures)
         values ($1, $2, $3, $1, '', 'test', now(), $4, $5)`,
        [token_id, sha256, deployment_id, epoch, captures],
      ),
    )
    return { token, token_id }
  }

  async revoke(token_id: string): Promise<void> {
    await this.change((client, epoch) =>
      client.query(
        'update auth.deployment_token set revoked_at = now(), epoch = $2 where token_id = $1',
        [token_id, epoch],
      ),
    )
  }
}
