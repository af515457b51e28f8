/** An advisory lock: the SQL of its key and the values in it. */
export type Lock = {
  key: 'fixed' | 'text' | 'schema' | 'schema_row'
  values: readonly (string | number)[]
}

const fixed = (id: number): Lock => ({ key: 'fixed', values: [id] })

/**
 * The locks by which the processes of an installation keep out of each other's way. A number is never changed
 * or given again: during an upgrade, old and new processes must still exclude each other.
 */
export const locks = {
  /** The process that uses an embedded server's directory. */
  owner: fixed(7_265_000),
  /** The one relay that publishes. */
  relay: fixed(7_265_001),
  /** Bringing schemas up to date. */
  migration: fixed(7_265_002),
  /** Making the template of the tests' databases, and copying it: PostgreSQL copies only what nobody uses. */
  testTemplate: fixed(7_265_003),
  /** The one rebuild of the read models. */
  rebuild: fixed(7_265_010),
  /** Trimming the log; a rebuild holds it, too. */
  logTrim: fixed(7_265_013),
  /** The one process that looks after the attempts of an engine. */
  engine: fixed(7_265_011),
  /** Making the role under which rows are read for people, and granting it what it may read. */
  readerGrant: fixed(7_265_012),
} as const

/** The lock of a text: writers of one stream queue up behind its name. */
export const textLock = (text: string): Lock => ({ key: 'text', values: [text] })

/** The lock of a name in the schema that comes first on the search path: one worker for each generation. */
export const schemaLock = (name: string): Lock => ({ key: 'schema', values: [name] })

/** The lock of one row, by number, of a table in the schema that comes first on the search path. */
export const rowLock = (table: string, row: number): Lock => ({
  key: 'schema_row',
  values: [table, row],
})

/** The key of an advisory lock in SQL, made of the values of a `Lock`. */
export const keyOf: Record<Lock['key'], string> = {
  fixed: '$1::bigint',
  text: 'hashtextextended($1, 0)',
  schema: `hashtext(current_schema() || '/' || $1)`,
  schema_row: `hashtext(current_schema() || '/' || $1), $2::integer`,
}
