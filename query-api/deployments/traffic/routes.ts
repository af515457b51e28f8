import { type RawBuilder, sql } from 'kysely'
import type { Route } from '../../../auth/route.ts'
import type { Clock } from '../../../platform/time.ts'
import { parseTimestamp, toExactTimestamp, toTimestamp } from '../../../schemas/timestamp.ts'
import {
  type TrafficSummary,
  trafficQuery,
  trafficRow,
  trafficSummary,
  trafficSummaryQuery,
} from '../../../schemas/traffic.ts'
import { Invalid } from '../../../schemas/validate.ts'
import { list, one } from '../../reading/list.ts'
import type { Reads } from '../../reading/reads.ts'
import { type Db, ofDeployment, type Tables } from '../find.ts'
import { isError } from './errors-sql.ts'

const dayMs = 86_400_000
/** The longest time span of a response. */
const maxDays = 31

export const trafficRoutes = (reads: Reads<Tables>, now: Clock): Route[] => [
  rowsRoute(reads, now),
  summaryRoute(reads, now),
]

const rowsRoute = (reads: Reads<Tables>, now: Clock): Route =>
  list({
    ...ofSpan(reads, now, maxDays),
    path: '/api/deployments/{deployment_id}/traffic',
    tag: 'deployments',
    summary: 'The requests to a deployment, newest first; by default from the last 31 days',
    query: trafficQuery,
    row: trafficRow,
    matching: ({ db, row, span }, { query: { token_id, status } }) =>
      db
        .selectFrom('traffic')
        .where('deployment_id', '=', row.deployment_id)
        .where(within(span))
        .$if(token_id !== undefined, rows => rows.where('token_id', '=', token_id ?? ''))
        .$if(status !== undefined, rows => rows.where('status', '=', status ?? 0)),
    select: requests =>
      requests
        .select(['request_id', 'deployment_id', 'revision_id', 'token_id', 'method', 'path'])
        .select(['model', 'stream', 'status', 'error_source', 'started_at', 'ttft_ms'])
        .select(['duration_ms', 'request_bytes', 'response_bytes', 'prompt_tokens'])
        .select(['completion_tokens', 'usage_source', 'aborted', 'client_ip', 'user_agent'])
        .orderBy('started_at', 'desc')
        .orderBy('request_id', 'desc'),
    shape: rows => rows.map(one => ({ ...one, started_at: toExactTimestamp(one.started_at) })),
  })

const summaryRoute = (reads: Reads<Tables>, now: Clock): Route =>
  one({
    ...ofSpan(reads, now, 1),
    path: '/api/deployments/{deployment_id}/traffic/summary',
    tag: 'deployments',
    summary: 'Totals of the requests to a deployment, by default from the last day',
    query: trafficSummaryQuery,
    response: trafficSummary,
    async read({ db, row, span }, { query }): Promise<TrafficSummary> {
      const figures = await figuresOf(db, row.deployment_id, { span, by: query.by })
      return {
        from: toTimestamp(span.from),
        to: toTimestamp(span.to),
        ...figures.all,
        errors_by_token: await errorsByToken(db, row.deployment_id, span),
        groups: figures.groups,
      }
    },
  })

/** For routes about the requests to a deployment in a time span. */
function ofSpan(reads: Reads<Tables>, now: Clock, usualDays: number) {
  const { of, ...common } = ofDeployment(reads)
  return {
    ...common,
    async of(request: Parameters<typeof of>[0] & { query: { from?: string; to?: string } }) {
      const span = spanOf(request.query, now(), usualDays)
      return { span, ...(await of(request)) }
    },
  }
}

type Span = { from: Date; to: Date }

function spanOf({ from, to }: { from?: string; to?: string }, now: Date, usualDays: number): Span {
  const end = to === undefined ? now.getTime() + 1 : parseTimestamp(to)
  const begin = from === undefined ? end - usualDays * dayMs : parseTimestamp(from)
  if (begin > end) throw wrong(from, 'Input should be before `to`')
  if (end - begin > maxDays * dayMs)
    throw wrong(from, `Input should be at most ${maxDays} days before \`to\``)
  return { from: new Date(begin), to: new Date(end) }
}

const wrong = (input: string | undefined, msg: string) =>
  new Invalid([{ loc: ['query', 'from'], msg, type: 'value_error', input }])

/** Also filters by day, so that PostgreSQL does not open other days' partitions. */
const within = ({ from, to }: Span): RawBuilder<boolean> => sql<boolean>`
  (day between (${from}::timestamptz at time zone 'UTC')::date and (${to}::timestamptz at time zone 'UTC')::date
   and started_at >= ${from} and started_at < ${to})`

type Figures = Omit<TrafficSummary['groups'][number], 'key'>
type FigureRow = Figures & { key: string | null; is_all: number }

const keys = {
  token: sql`token_id`,
  revision: sql`revision_id`,
  hour: sql`to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24":00:00+00:00"')`,
} as const

const maxGroups = 1_000

async function figuresOf(
  db: Db,
  deployment_id: string,
  { span, by }: { span: Span; by: keyof typeof keys | undefined },
): Promise<{ all: Figures; groups: TrafficSummary['groups'] }> {
  const { rows } = await sql<FigureRow>`
    select key, grouping(key) as is_all, count(*)::int as requests, count(*) filter (where is_error)::int as errors,
           count(*) filter (where aborted)::int as aborted,
           coalesce(sum(prompt_tokens), 0)::float8 as prompt_tokens,
           coalesce(sum(completion_tokens), 0)::float8 as completion_tokens,
           sum(completion_tokens)::float8
             / nullif(sum(duration_ms) filter (where completion_tokens > 0), 0) * 1000 as tokens_per_s,
           percentile_cont(0.5) within group (order by ttft_ms) as ttft_ms_p50,
           percentile_cont(0.95) within group (order by ttft_ms) as ttft_ms_p95,
           percentile_cont(0.5) within group (order by duration_ms) as duration_ms_p50,
           percentile_cont(0.95) within group (order by duration_ms) as duration_ms_p95
      from (select *, ${isError} as is_error, ${by === undefined ? sql`null::text` : keys[by]} as key
              from traffic where deployment_id = ${deployment_id} and ${within(span)}) t
     group by grouping sets ((), (key))
     order by is_all desc, ${by === 'hour' ? sql`key` : sql`requests desc, key`} limit ${maxGroups + 1}`.execute(
    db,
  )
  const groups = rows.map(({ is_all, ...group }) => ({ is_all, group }))
  const { key: _, ...all } = groups.find(({ is_all }) => is_all === 1)?.group ?? {
    ...none,
    key: null,
  }
  const parts =
    by === undefined ? [] : groups.flatMap(({ is_all, group }) => (is_all ? [] : [group]))
  return { all, groups: parts }
}

const none: Figures = {
  ...{ requests: 0, errors: 0, aborted: 0, prompt_tokens: 0, completion_tokens: 0 },
  ...{ tokens_per_s: null, ttft_ms_p50: null, ttft_ms_p95: null },
  ...{ duration_ms_p50: null, duration_ms_p95: null },
}

async function errorsByToken(db: Db, deployment_id: string, span: Span) {
  const { rows } = await sql<{ token_id: string; errors: number }>`
    select token_id, count(*)::int as errors from traffic
     where deployment_id = ${deployment_id} and ${within(span)} and ${isError}
     group by token_id order by errors desc, token_id limit ${maxGroups}`.execute(db)
  return rows
}
