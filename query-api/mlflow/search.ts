import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { Refusal } from '../../platform/refusal.ts'
import { type MlflowRunAnswer, type MlflowRunSearch, runNameTag } from '../../schemas/mlflow.ts'
import { readableProjects } from '../rules/access.ts'
import { orderedLast } from '../rules/ordered-last.ts'
import { endOf, nameOfMlflowRun, readRuns, startOf, statusOf } from './runs.ts'
import { type Db, type MlflowCaller, type MlflowReads, ownRun, runInScope } from './scope.ts'
import { type Condition, type Field, type Order, parseFilter, parseOrder } from './search-filter.ts'

type Page = { limit: number; offset: number }
type Found = { runs: MlflowRunAnswer[]; next_page_token?: string }

const maxPage = 500
const maxOffset = 100_000
/** Maximum metrics in a response; runs beyond it are on the next page. */
const maxMetrics = 200_000

/** A page of runs; running code only finds its own. */
export async function searchRuns(
  reads: MlflowReads,
  caller: MlflowCaller,
  search: MlflowRunSearch,
): Promise<Found> {
  const conditions = parseFilter(search.filter ?? '')
  const orders = (search.order_by ?? []).map(parseOrder)
  const page = pageOfSearch(search, { largest: maxPage, standard: maxPage })
  // A deleted run looks as if it did not exist.
  if (search.run_view_type?.toUpperCase() === 'DELETED_ONLY') return { runs: [] }
  const scope = await scopeOf(reads, caller, search.experiment_ids ?? [])
  if (scope === null) return { runs: [] }
  const rows = await pageOfRuns(scope, { conditions, orders, page })
  const runIds = rows.slice(0, page.limit).map(row => row.run_id)
  const db = scope.naming(runIds)
  const taken = await fitting(db, runIds)
  const next = page.offset + taken.length
  return {
    runs: await readRuns(db, taken),
    ...(rows.length > taken.length && { next_page_token: String(next) }),
  }
}

/** `max_results` and `page_token`, which is an offset. */
export function pageOfSearch(
  { max_results, page_token }: { max_results?: number | string; page_token?: string },
  { largest, standard }: { largest: number; standard: number },
): Page {
  const offset = Number(page_token || 0)
  if (!Number.isInteger(offset) || offset < 0 || offset > maxOffset)
    throw new Refusal('invalid', `Invalid page token: ${page_token}`)
  const wanted = Number(max_results ?? standard)
  if (!(wanted >= 1))
    throw new Refusal(
      'invalid',
      `Invalid value ${max_results} for max_results; it must be positive`,
    )
  return { limit: Math.min(wanted, largest), offset }
}

type Scope = {
  db: Db
  /** Which runs `r` are searched. */
  within: RawBuilder<SqlBool>
  /** For reads of these runs. */
  naming(runIds: readonly string[]): Db
}

/** Null if nothing can match. */
async function scopeOf(
  reads: MlflowReads,
  caller: MlflowCaller,
  projects: readonly string[],
): Promise<Scope | null> {
  if (caller.kind === 'run') {
    const { run_id } = await ownRun(reads.pool, caller)
    const { db } = await runInScope(reads, caller, run_id)
    return { db, within: sql<SqlBool>`r.run_id = ${run_id}`, naming: () => db }
  }
  if (projects.length === 0) return null
  const db = reads.reads.as(caller)
  const readable = await readableProjects(db, caller)
  const ofThem = sql<SqlBool>`r.project = any(${projects})`
  const within =
    readable === null
      ? ofThem
      : sql<SqlBool>`${ofThem} and (r.project = any(${readable}) or r.owner = ${caller.username})`
  return { db, within, naming: runIds => reads.reads.as(caller, runIds) }
}

type Wanted = { conditions: readonly Condition[]; orders: readonly Order[]; page: Page }

/** One more than the page holds, if there are that many. */
async function pageOfRuns({ db, within }: Scope, { conditions, orders, page }: Wanted) {
  const filters = [within, ...conditions.map(sqlOf)]
  const order = [...orders.map(orderOf), sql`${startOf} desc`, sql`r.run_id`]
  const { rows } = await sql<{ run_id: string }>`
    select r.run_id from readable_runs r left join mlflow_runs m using (run_id)
     where ${sql.join(filters, sql` and `)}
     order by ${sql.join(order)} limit ${page.limit + 1} offset ${page.offset}`.execute(db)
  return rows
}

/** As many of these runs as a response can hold, and at least one. */
async function fitting(db: Db, runIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ run_id: string; keys: number }>`
    select m.run_id, k.keys from metric_run m join metric_keys k using (run_no)
     where m.run_id = any(${runIds})`.execute(db)
  const keys = new Map(rows.map(row => [row.run_id, row.keys]))
  let total = 0
  return runIds.filter((runId, at) => {
    total += keys.get(runId) ?? 0
    return at === 0 || total <= maxMetrics
  })
}

const attributes: Readonly<Record<string, RawBuilder<unknown>>> = {
  run_id: sql`r.run_id`,
  run_name: nameOfMlflowRun,
  status: statusOf,
  user_id: sql`r.owner`,
  artifact_uri: sql`'mlflow-artifacts:/' || r.run_id`,
  start_time: startOf,
  end_time: endOf,
}

/** The value of a field of run `r`; null if it has none. */
function sqlValue({ of, key }: Field): RawBuilder<unknown> {
  switch (of) {
    case 'metric':
      return sql`(select ${orderedLast} from (select run_id, key_no, last from latest_of_runs
                   union all select run_id, key_no, last from settled_of_runs) s
                   where s.run_id = r.run_id
                     and s.key_no = (select key_no from metric_name where key = ${key}))`
    case 'param':
      return sql`(select h.text from hparams_of_runs h where h.run_id = r.run_id and h.key = ${key})`
    case 'tag':
      return key === runNameTag ? nameOfMlflowRun : sql`(m.tags ->> ${key}::text)`
    case 'attribute':
      return attributes[key] ?? sql`null`
  }
}

const comparators = {
  '=': sql`=`,
  '!=': sql`<>`,
  '<': sql`<`,
  '<=': sql`<=`,
  '>': sql`>`,
  '>=': sql`>=`,
  LIKE: sql`like`,
  ILIKE: sql`ilike`,
}

function sqlOf({ comparator, values, ...field }: Condition): RawBuilder<SqlBool> {
  const value = sqlValue(field)
  switch (comparator) {
    case 'IS NULL':
      return sql<SqlBool>`${value} is null`
    case 'IS NOT NULL':
      return sql<SqlBool>`${value} is not null`
    case 'IN':
      return sql<SqlBool>`${value} = any(${values}::text[])`
    case 'NOT IN':
      return sql<SqlBool>`${value} <> all(${values}::text[])`
    default: {
      const [wanted] = values
      return typeof wanted === 'number'
        ? sql<SqlBool>`${value} ${comparators[comparator]} ${wanted}::float8`
        : sql<SqlBool>`${value} ${comparators[comparator]} ${wanted}::text`
    }
  }
}

const orderOf = ({ desc, ...field }: Order) =>
  sql`${sqlValue(field)} ${desc ? sql`desc` : sql`asc`} nulls last`
