import { type Kysely, sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import { decodeFact } from '../../events/fact.ts'
import type { DeadLetterTables } from '../../projector/dead-letters/table.ts'
import {
  type DeadLetter,
  deadLetter,
  deadLetterDetail,
  deadLetterQuery,
  letterPath,
} from '../../schemas/dead-letters.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'

export const deadLetterRoutes = (reads: Reads<DeadLetterTables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/admin/dead-letters',
    credential: 'admin',
    tag: 'admin',
    summary: 'Acknowledged records that could not be applied, the oldest of each partition first',
    query: deadLetterQuery,
    row: deadLetter,
    matching: ({ db }, { query: { topic, run_id } }) =>
      db
        .selectFrom('dead_letter')
        .$if(topic !== undefined, rows => rows.where('topic', '=', String(topic)))
        .$if(run_id !== undefined, rows => rows.where('key', '=', String(run_id))),
    select: letters =>
      letters.select(columns).orderBy('topic').orderBy('partition').orderBy('offset'),
    shape: rows => rows.map(toLetter),
  }),
  one({
    ...asCaller(reads),
    path: '/api/admin/dead-letters/{letter_id}',
    credential: 'admin',
    tag: 'admin',
    summary: 'Read a parked record with its envelope and content',
    params: letterPath,
    response: deadLetterDetail,
    missing: ({ letter_id }) => `No such parked record: ${letter_id}`,
    async read({ db }, { params }) {
      const row = await find(db, params.letter_id)
      if (!row) return
      const { value, ...letter } = row
      return { ...toLetter(letter), ...envelopeOf(value), value: value.toString('base64') }
    },
  }),
]

const columns = [
  'topic',
  'partition',
  'offset',
  'key',
  'error',
  sql<number>`octet_length(value)`.as('bytes'),
] as const

function find(db: Kysely<DeadLetterTables>, letter_id: string) {
  const [topic = '', partition, offset] = letter_id.split(':')
  return db
    .selectFrom('dead_letter')
    .select([...columns, 'value'])
    .where('topic', '=', topic)
    .where('partition', '=', Number(partition))
    .where('offset', '=', Number(offset))
    .executeTakeFirst()
}

const toLetter = (row: Omit<DeadLetter, 'letter_id'>): DeadLetter => ({
  letter_id: `${row.topic}:${row.partition}:${row.offset}`,
  ...row,
})

function envelopeOf(value: Buffer) {
  try {
    const { type, event_id, received_at_ms, attempt, request_id } = decodeFact(value)
    return {
      type,
      event_id,
      received_at: toTimestamp(new Date(received_at_ms)),
      attempt,
      request_id,
    }
  } catch {
    // A parked record may be damaged.
    return { type: null, event_id: null, received_at: null, attempt: null, request_id: null }
  }
}
