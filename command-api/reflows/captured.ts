import type { Pool } from 'pg'
import { sealedForRequest } from '../../auth/captured.ts'
import type { SealingKeys } from '../../auth/sealing-keys.ts'
import type { CapturedContent } from '../../schemas/captured.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Transaction } from '../commit/event-store.ts'
import { conversationOf } from './assemble.ts'
import type { Looked } from './candidate.ts'
import type { Page } from './take.ts'

type Row = {
  seq: string
  request_id: string
  token_id: string
  subject: string | null
  started_at: Date
  sealed: string
  is_erased: boolean
}

/** A row may have 700 KB. */
const rowsOfPage = 64
/** Further captured requests are not counted. */
const mostCounted = 100_000

export type Between = { deployment_id: string; after: number; until: number }
type Opening = { pool: Pool; sealing: SealingKeys; digestOf: SampleDigest }

/** As judges of validation samples digest them. */
export type SampleDigest = (sample: {
  user: string | null
  assistant: string | null
  extra: Record<string, unknown> | null
}) => string

/** Captured requests in the order of arrival, page by page. */
export async function* capturedPages(
  on: Pick<Opening, 'pool' | 'sealing' | 'digestOf'>,
  { deployment_id, after, until }: Between,
  most = rowsOfPage,
): AsyncGenerator<Page> {
  for (let from = after; from < until; ) {
    const { rows } = await on.pool.query<Row>({
      name: 'captured_page',
      text: `select c.seq, c.request_id, c.token_id, c.subject, c.started_at, c.sealed,
                    exists (select from write.reflow_erasure e
                             where e.deployment_id = c.deployment_id and c.started_at <= e.erased_at
                               and (e.subject = c.subject or e.token_id = c.token_id)) as is_erased
               from write.captured_request c
              where c.deployment_id = $1 and c.seq > $2 and c.seq <= $3
              order by c.seq limit $4`,
      values: [deployment_id, from, until, most],
    })
    const last = rows.at(-1)
    if (!last) return
    from = Number(last.seq)
    yield {
      looked: await Promise.all(rows.map(row => look(on, deployment_id, row))),
      reached: from,
    }
  }
}

async function look(
  { sealing, digestOf }: Pick<Opening, 'sealing' | 'digestOf'>,
  deployment_id: string,
  { request_id, token_id, subject, started_at, sealed, is_erased }: Row,
): Promise<Looked> {
  if (is_erased) return 'erased'
  const text = await sealing.open(sealed, sealedForRequest(request_id))
  if (text === null) return 'unreadable'
  const content: CapturedContent = JSON.parse(text)
  const conversation = conversationOf(content)
  if (!conversation) return 'unreadable'
  const { messages } = conversation
  const { revision_id, path, model } = content
  const at = toTimestamp(started_at)
  return {
    source: `request:${request_id}`,
    kind: 'chat',
    row: conversation,
    provenance: {
      ...{ source: `request:${request_id}`, deployment_id, revision_id, token_id, model, at },
    },
    at,
    words: { model, path, token: token_id, user: userIn(content.request) },
    numbers: {
      duration_ms: content.duration_ms,
      prompt_tokens: content.prompt_tokens,
      completion_tokens: content.completion_tokens,
      messages: messages.length,
    },
    sample: digestOf({
      user: lastOf(messages, 'user'),
      assistant: lastOf(messages, 'assistant'),
      extra: null,
    }),
    of: { token_id, subject },
  }
}

/** The request was read as JSON before. */
function userIn(request: string): string | null {
  const { user, safety_identifier: identifier } = JSON.parse(request) as Record<string, unknown>
  return [identifier, user].find(one => typeof one === 'string') as string | null
}

const lastOf = (messages: readonly Record<string, unknown>[], role: string): string | null => {
  const last = messages.findLast(message => message.role === role)
  return typeof last?.content === 'string' ? last.content : null
}

export type CapturedNow = {
  kept: number
  oldest_at: Date | null
  dropped: number
  dropped_at: Date | null
  bytes: number
  evicted: number
  evicted_at: Date | null
}

export async function capturedNow(pool: Pool, deployment_id: string): Promise<CapturedNow> {
  const { rows } = await pool.query<CapturedNow>(
    `select (select count(*)::int from (select from write.captured_request where deployment_id = $1 limit $2) counted) as kept,
            (select started_at from write.captured_request where deployment_id = $1 order by seq limit 1) as oldest_at,
            coalesce((select dropped::float8 from write.captured_drop where deployment_id = $1), 0) as dropped,
            (select dropped_at from write.captured_drop where deployment_id = $1) as dropped_at,
            coalesce((select bytes::float8 from write.captured_size where deployment_id = $1), 0) as bytes,
            coalesce((select evicted::float8 from write.captured_size where deployment_id = $1), 0) as evicted,
            (select evicted_at from write.captured_size where deployment_id = $1) as evicted_at`,
    [deployment_id, mostCounted],
  )
  const [found] = rows
  if (!found) throw new Error('a query of counts returned nothing')
  return found
}

/** The number of the newest captured request; under `capturedLock` none appears behind it. */
export async function newestCaptured(tx: Transaction, deployment_id: string): Promise<number> {
  const { rows } = await tx.query<{ newest: number }>(
    `select coalesce(max(seq), 0)::float8 as newest from write.captured_request where deployment_id = $1`,
    [deployment_id],
  )
  return rows[0]?.newest ?? 0
}
