/**
 * An advisory lock: the SQL that computes its key (`keyOf`), and the values in it. `fixed`: a resource of the
 * installation, listed below. `schema`, `schema_row`: resources that each generation of tables has separately.
 * `text`: resources known only at run time, or declared elsewhere by name.
 */
export type Lock = {
  key: 'fixed' | 'text' | 'schema' | 'schema_row'
  values: readonly (string | number)[]
}

const fixed = (id: number): Lock => ({ key: 'fixed', values: [id] })

/**
 * The locks with which the processes of an installation exclude each other. A number is never changed or reused,
 * because old and new processes must exclude each other during an upgrade. The next free number is 7_265_015.
 */
export const locks = {
  /** The process that uses an embedded server's directory. */
  owner: fixed(7_265_000),
  /** The only relay that publishes. */
  relay: fixed(7_265_001),
  /** Migrating schemas. */
  migration: fixed(7_265_002),
  /** Creating the template of the tests' databases, and copying it: PostgreSQL copies no database in use. */
  testTemplate: fixed(7_265_003),
  /** The only rebuild of the read models. */
  rebuild: fixed(7_265_010),
  /** The only process that starts jobs on its engine. */
  engine: fixed(7_265_011),
  /** Creating the role that reads rows on behalf of people, and granting its reads. */
  readerGrant: fixed(7_265_012),
  /** Trimming the log; a rebuild holds it as well. */
  logTrim: fixed(7_265_013),
  /** Moving signing keys from a folder into the database. */
  keyMove: fixed(7_265_014),
} as const

/** The lock of a text, e.g. of a stream's name: its writers wait for each other. */
export const textLock = (text: string): Lock => ({ key: 'text', values: [text] })

/** The lock of a name in the first schema of the search path: one worker for each generation. */
export const schemaLock = (name: string): Lock => ({ key: 'schema', values: [name] })

/** The lock of one row, by number, of a table in the first schema of the search path. */
export const rowLock = (table: string, row: number): Lock => ({
  key: 'schema_row',
  values: [table, row],
})

const inSchema = (schema: string) => `hashtext(${schema} || '/' || $1)`

/** The SQL of a lock's key; its parameters are the values of the `Lock`. */
export const keyOf: Record<Lock['key'], string> = {
  fixed: '$1::bigint',
  text: 'hashtextextended($1, 0)',
  schema: inSchema('current_schema()'),
  schema_row: `${inSchema('current_schema()')}, $2::integer`,
}

/** The key of `rowLock` for `number`, a row of the table `$1`, where the schema is named: `$2`. */
export const keyOfNamedRow = `${inSchema('$2::text')}, number`
