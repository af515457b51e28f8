import { type Kysely, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { Reads } from '../reading/reads.ts'
import { findRun, findRunIds } from '../rules/access.ts'
import type { Feed } from './feed.ts'
import { rowFeed } from './row-feed.ts'

/** A topic of `/api/stream` (contract: `topics=job:<id>,jobs,notifications`); a slice provides one. */
export type Topic = {
  /** The names in `topics` that this topic serves. */
  pattern: RegExp
  /** The same names in readable form, for the refusal of an unknown one. */
  shape: string
  /** Opens one feed for all requested names; refuses names that the caller may not read. */
  open(caller: Person, names: readonly string[]): Promise<OpenedTopic>
}

export type OpenedTopic = {
  feed: Feed
  /** Where a reader without a cursor begins. */
  start: number
  /** Refuses as soon as the caller may no longer read this. */
  check: () => Promise<unknown>
}

type OfOneRun<T> = {
  name: string
  reads: Reads<T>
  feed: (db: Kysely<T>, runId: string) => Feed
  /** The cursor from which only new data follows. */
  head: (db: Kysely<T>, runId: string) => Promise<number>
}

/** The topic `<name>:<run_id>`: new data of one run from now on. It never ends. */
export const topicOfOneRun = <T>({ name, reads, feed, head }: OfOneRun<T>): Topic => ({
  pattern: new RegExp(`^${name}:.{1,128}$`),
  shape: `'${name}:<run_id>' (one)`,
  async open(caller, names) {
    const { run_id, db } = await findRun(reads, caller, oneRun(name, names))
    const start = await head(db, run_id)
    const ending = feed(reads.shared([run_id]), run_id)
    const read = async (after: number) => ({ ...(await ending.read(after)), end: null })
    return { feed: { ...ending, read }, start, check: () => findRun(reads, caller, run_id) }
  },
})

type OfRuns<T> = {
  name: string
  reads: Reads<T>
  feed: (db: Kysely<T>, runIds: readonly string[]) => Feed
  /** What a run that the caller may not read is called. */
  noun?: 'run' | 'job'
}

/** The topic `<name>:<run_id>`: everything about these runs, from the first on, in one feed. */
export const topicOfRuns = <T>({ name, reads, feed, noun }: OfRuns<T>): Topic => ({
  pattern: new RegExp(`^${name}:.{1,128}$`),
  shape: `'${name}:<run_id>'`,
  async open(caller, names) {
    const asked = names.map(one => one.slice(name.length + 1))
    const runIds = await findRunIds(reads, caller, asked, noun)
    const check = () => findRunIds(reads, caller, runIds, noun)
    return { feed: feed(reads.shared(runIds), runIds), start: 0, check }
  },
})

type OfOwnRows<T, R extends { change: number }> = {
  /** The topic and its events have it. */
  name: string
  reads: Reads<T>
  table: keyof T & string
  content: (row: R) => object
}

const atOnce = 200

/** The topic `<name>`: the rows of a table that the caller may see, each again whenever it changes from now on. */
export const topicOfOwnRows = <T, R extends { change: number }>({
  name,
  reads,
  table,
  content,
}: OfOwnRows<T, R>): Topic => ({
  pattern: new RegExp(`^${name}$`),
  shape: `'${name}'`,
  async open(caller) {
    const db = reads.as(caller)
    const newest = await sql<{ change: number }>`
      select coalesce(max(change), 0) as change from ${sql.table(table)}`.execute(db)
    const feed = rowFeed<R>({
      key: `${name} for ${caller.role} ${caller.username}`,
      wakes: { projections: ['decisions'], key: null },
      ...{ event: name, atOnce, content },
      async rowsAfter(after) {
        const { rows } = await sql<R>`
          select * from ${sql.table(table)} where change > ${after} order by change limit ${atOnce}`.execute(
          db,
        )
        return { rows, head: rows.at(-1)?.change ?? after }
      },
    })
    // People never lose access to their own; the stream itself notices an ended sign-in.
    return { feed, start: newest.rows[0]?.change ?? 0, check: async () => {} }
  },
})

/** The run of a topic that follows one; 422 for several. */
function oneRun(topic: string, names: readonly string[]): string {
  const [name = '', ...others] = names
  if (others.length === 0) return name.slice(topic.length + 1)
  throw new Invalid([
    {
      loc: ['query', 'topics'],
      msg: `Input should name at most one run as '${topic}:<run_id>'`,
      type: 'value_error',
      input: names.join(',').slice(0, 300),
    },
  ])
}
