import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { AuditQuery } from '../../schemas/audit.ts'
import { toRow } from './events.ts'
import { type AuditPage, fitting, maxCounted } from './page.ts'
import { streamOf } from './target.ts'

/** The newest events that pass all filters; a page of very large ones ends early. */
export async function listEvents(db: Kysely<unknown>, query: AuditQuery): Promise<AuditPage> {
  const { limit = 50, offset = 0 } = query
  const passing = sql.join([sql`true`, ...conditions(query)], sql` and `)
  // A target's events are ordered by version, because a clock set back would reverse them.
  const order = sql.raw(
    query.target === undefined ? 'occurred_at desc, position desc' : 'stream_version desc',
  )
  const found = sql`
    select *, row_number() over (order by ${order}) as place from write.event where ${passing}
     order by ${order} limit ${limit} offset ${offset}`
  const { rows } = await fitting(found).execute(db)
  return { rows: rows.map(toRow), counted: await count(db, passing) }
}

async function count(db: Kysely<unknown>, passing: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
      from (select 1 from write.event where ${passing} limit ${maxCounted}) as found`.execute(db)
  return rows[0]?.count ?? 0
}

function conditions(query: AuditQuery): RawBuilder<unknown>[] {
  const { actor, type, target, request_id, since, until } = query
  return [
    ...(actor === undefined ? [] : byActor(actor)),
    ...(type === undefined ? [] : [byType(type)]),
    ...(target === undefined ? [] : [sql`stream = ${streamOf(target)}`]),
    ...(request_id === undefined ? [] : [sql`meta ->> 'request_id' = ${request_id}`]),
    ...(since === undefined ? [] : [sql`occurred_at >= ${new Date(since)}`]),
    ...(until === undefined ? [] : [sql`occurred_at < ${new Date(until)}`]),
  ]
}

const ofKind = /^(user|run|system):(.+)$/s

function byActor(actor: string): RawBuilder<unknown>[] {
  const [, kind, id] = ofKind.exec(actor) ?? []
  const byId = sql`meta #>> '{actor,id}' = ${id ?? actor}`
  return kind === undefined ? [byId] : [byId, sql`meta #>> '{actor,type}' = ${kind}`]
}

const byType = (type: string): RawBuilder<unknown> =>
  type.endsWith('.*') ? sql`split_part(type, '.', 1) = ${type.slice(0, -2)}` : sql`type = ${type}`
