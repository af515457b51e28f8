import { type CustomTypesConfig, Pool, types } from 'pg'

export type PoolOptions = {
  max: number
  applicationName: string
  /** Schemas to search; new tables go to the first. Default: PostgreSQL's own. */
  searchPath?: string
  /** How long a statement may wait for one lock. Default: 10 s. */
  lockTimeoutMs?: number
  /** Total time limit of a statement; null: no limit. Default: 20 s. */
  statementTimeoutMs?: number | null
  /** A server that has not replied to a query after this time counts as lost. Default: 5 s more than the statement's. */
  answerWithinMs?: number
  /** Default: yes. Otherwise a crash may lose the last commits, unless a later one of another pool was acknowledged. */
  isDurable?: boolean
  /**
   * Pipelining: a connection sends statements without waiting for earlier replies, so that a transaction that does
   * not wait in between takes fewer round trips. Default: no.
   */
  isPipelined?: boolean
  /** Called for a lost idle connection; the pool replaces it automatically. */
  onError?: (error: Error) => void
}

/** An idle transaction is aborted after this, which releases its locks. */
const idleInTransactionMs = 60_000
const connectWithinMs = 10_000

/** For queries whose caller waits; parts with longer ones create their pool with other values. */
const usualMs = { lock: 10_000, statement: 20_000, grace: 5_000 }

/**
 * A client whose host vanished loses its connection, and with it its locks, within 25 s. Idle connections: 10 s of
 * silence and three probes; an unacknowledged reply: the user time-out; a running or waiting statement: the check.
 */
const noticeVanishedClients = [
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
  'tcp_user_timeout=25000',
  'client_connection_check_interval=10000',
]
/** Then this side probes once a second, ten times: it notices a lost connection before others get its locks. */
const keepAliveAfterMs = 10_000

/**
 * Disks no longer seek: at the default page cost of 4, lists sorted by a metric scan an index of all runs instead of
 * the few of a project (81 ms instead of 11 at 100,000 runs). Compiling a plan takes longer than our queries run, as
 * does starting workers, which also read further along an index than a page needs.
 */
const planning = ['random_page_cost=1.1', 'jit=off', 'max_parallel_workers_per_gather=0']

const int8 = 20
const int8List: number = 1016

/** `int8` as a number, `timestamptz` as a Date, `numeric` as text. */
const asNumbers: CustomTypesConfig = {
  getTypeParser: (oid, format) => parserOf(oid, format, toSafeInteger),
}

/** For `types` of a query whose `int8` columns may exceed 2^53: returns them as bigint. */
export const asBigints: CustomTypesConfig = {
  getTypeParser: (oid, format) => parserOf(oid, format, BigInt),
}

/** A lost connection never ends the process; its next query fails instead. */
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
    ...(options.isDurable === false ? ['synchronous_commit=off'] : []),
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
    pipeline: options.isPipelined ?? false,
    options: settings.map(setting => `-c ${setting}`).join(' '),
  })
  pool.on('error', error => options.onError?.(error))
  // The pool listens for errors of idle connections only; those in use need a listener too.
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

/** SQLSTATE classes and codes that blame the server, not the statement. */
const outageCodes =
  /^(08...|57P0[1235]|53300|25P03|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/
/** Errors of pg itself, which have no code. */
const outageWords =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|not queryable/
/** A lock or a statement took too long, or transactions collided. */
const busyCodes = /^(55P03|57014|40P01|40001)$/

/** Whether the database could not be reached, so that a retry may succeed. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  if (code === null) return outageWords.test(error.message)
  // A missing file means an outage only if it is the server's socket.
  return (
    outageCodes.test(code) ||
    (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect')
  )
}

/** Whether the database was too busy, so that a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && busyCodes.test(codeOf(error) ?? '')
}

const codeOf = (error: Error): string | null => ('code' in error ? String(error.code) : null)
