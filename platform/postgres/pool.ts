import { type CustomTypesConfig, Pool, types } from 'pg'

export type PoolOptions = {
  max: number
  applicationName: string
  /** Schemas to look in, the first one for what is made; none: PostgreSQL's own default. */
  searchPath?: string
  /** How long a statement may wait for one lock. Default: 10 s. */
  lockTimeoutMs?: number
  /** How long a statement may take in all; null: as long as it likes. Default: 20 s. */
  statementTimeoutMs?: number | null
  /** A server that has not replied to a query by then counts as lost. Default: 5 s after the statement's time. */
  answerWithinMs?: number
  /** A lost idle connection; the pool replaces it by itself. */
  onError?: (error: Error) => void
}

/** An idle transaction is aborted after this, which releases its locks. */
const idleInTransactionMs = 60_000
const connectWithinMs = 10_000

/** Somebody waits for the reply of most queries; whoever may take longer says so where the pool is made. */
const usualMs = { lock: 10_000, statement: 20_000, grace: 5_000 }

/**
 * A client whose host vanished loses its connection, and with it its locks, within 25 s: 10 s of silence and three
 * probes; while a reply to it is under way, by the time-out; while a statement of its own runs or waits, by the check.
 */
const noticeVanishedClients = [
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
  'tcp_user_timeout=25000',
  'client_connection_check_interval=10000',
]
/** This side probes ten times, once a second: it learns that the connection is lost before others get its locks. */
const keepAliveAfterMs = 10_000

/**
 * Disks have no arms any more: at the default of 4, lists sorted by a metric walk an index of all runs where
 * the few of a project would do (81 ms instead of 11 at 100,000 runs). Compiling a plan takes longer than ours run, and
 * so does starting workers, which walk further along an index than a page needs.
 */
const planning = ['random_page_cost=1.1', 'jit=off', 'max_parallel_workers_per_gather=0']

const int8 = 20
const int8List: number = 1016

/** `int8` as a number, `timestamptz` as a Date, `numeric` as text. */
const asNumbers: CustomTypesConfig = {
  getTypeParser: (oid, format) => parserOf(oid, format, toSafeInteger),
}

/** For `types` of a query whose `int8` columns may pass 2^53: they come as bigint. */
export const asBigints: CustomTypesConfig = {
  getTypeParser: (oid, format) => parserOf(oid, format, BigInt),
}

/** A lost connection never ends the process: its next query fails. */
export function createPool(url: string, options: PoolOptions): Pool {
  const { statementTimeoutMs = usualMs.statement, lockTimeoutMs = usualMs.lock } = options
  const answerWithinMs =
    options.answerWithinMs ??
    (statementTimeoutMs === null ? null : statementTimeoutMs + usualMs.grace)
  const settings = [
    ...planning,
    ...noticeVanishedClients,
    `lock_timeout=${lockTimeoutMs}`,
    `statement_timeout=${statementTimeoutMs ?? 0}`,
    ...(options.searchPath ? [`search_path=${options.searchPath}`] : []),
  ]
  const pool = new Pool({
    connectionString: url,
    max: options.max,
    application_name: options.applicationName,
    types: asNumbers,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    connectionTimeoutMillis: Math.min(connectWithinMs, answerWithinMs ?? connectWithinMs),
    idle_in_transaction_session_timeout: idleInTransactionMs,
    ...(answerWithinMs === null ? {} : { query_timeout: answerWithinMs }),
    options: settings.map(setting => `-c ${setting}`).join(' '),
  })
  pool.on('error', error => options.onError?.(error))
  // The pool listens only while a connection is idle; one in hand needs a listener too.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

function parserOf(oid: number, format: unknown, parse: (text: string) => unknown) {
  if (oid === int8) return parse
  if (oid === int8List) {
    const toTexts = types.getTypeParser(int8List, 'text') as (text: string) => unknown[]
    return (text: string) => toTexts(text).map(item => (item === null ? null : parse(String(item))))
  }
  return types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text')
}

function toSafeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`${text} is past 2^53; read this column with asBigints`)
  return number
}

/** SQLSTATE classes and codes that say the server, not the statement, is the trouble. */
const outageCodes =
  /^(08...|57P0[1235]|53300|25P03|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/
/** Errors of pg itself, which have no code. */
const outageWords =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|not queryable/
/** A lock or a statement that took too long; transactions that stood in each other's way. */
const busyCodes = /^(55P03|57014|40P01|40001)$/

/** Whether the error means that the database cannot be reached, so that the same may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  if (code === null) return outageWords.test(error.message)
  // A missing file is an outage only where it is the server's socket.
  return (
    outageCodes.test(code) ||
    (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect')
  )
}

/** Whether the error means that the database was too busy, so that the same may succeed later. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && busyCodes.test(codeOf(error) ?? '')
}

const codeOf = (error: Error): string | null => ('code' in error ? String(error.code) : null)
