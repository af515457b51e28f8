import { Readable } from 'node:stream'
import type { Context } from 'koa'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import { downloadQuery, logLine, logStreamQuery, logsQuery } from '../../schemas/logs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, findRun } from '../rules/access.ts'
import { type Cursor, cursorOf, type OpenStream } from '../sse/sse.ts'
import { logFeed } from './feed.ts'
import { type Matcher, matcherOf } from './match.ts'
import { linesAfter, readLogState } from './read.ts'
import { searchBackward, searchForward } from './search.ts'
import { createTurn } from './turn.ts'

export type LogDeps = { reads: Reads<LogTables & AccessTables>; openStream: OpenStream }

export const logRoutes = ({ reads, openStream }: LogDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/runs/{run_id}/logs',
    credential: 'person',
    reach: 'its_people',
    tag: 'logs',
    summary: 'Read lines of the log of a run',
    params: runIdInPath,
    query: logsQuery,
    response: Type.Array(logLine),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      const { limit = 50, after = 0, before, context = 0, ...filter } = query
      const asked = { limit, context, matcher: matcherOf(filter), isHasty: true }
      const state = await readLogState(db, run_id)
      const found =
        before === undefined
          ? await searchForward(db, run_id, { ...asked, from: after, last: state.last })
          : await searchBackward(db, run_id, {
              ...asked,
              from: Math.min(before, state.last + 1),
            })
      if (Object.keys(filter).length === 0) ctx.set('X-Total-Count', String(state.last))
      linkOn(ctx, before === undefined ? 'next' : 'prev', found.scannedTo, state.last)
      return found.lines
    },
  }),
  route({
    method: 'GET',
    path: '/api/runs/{run_id}/logs/download',
    credential: 'person',
    reach: 'its_people',
    tag: 'logs',
    summary: 'The whole log of a run as text',
    params: runIdInPath,
    query: downloadQuery,
    response: { mediaType: 'text/plain', description: 'A line of text for each line of the log' },
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      ctx.type = 'text/plain; charset=utf-8'
      ctx.set('Content-Disposition', `attachment; filename="${run_id}.log"`)
      ctx.body = Readable.from(
        logTextOf(db, run_id, { ...matcherOf(query), isGone: () => ctx.res.closed }),
      )
    },
  }),
  ...streamRoutes({ reads, openStream }),
]

const streamRoutes = ({ reads, openStream }: LogDeps): Route[] =>
  (['/api/jobs/{run_id}/logs/stream', '/api/runs/{run_id}/logs/stream'] as const).map(path =>
    route({
      method: 'GET',
      path,
      credential: 'person',
      reach: 'its_people',
      tag: 'logs',
      summary: 'Follow the log of a run (server-sent events `log`, `eof`)',
      params: runIdInPath,
      query: logStreamQuery,
      response: { mediaType: 'text/event-stream', description: 'Events `log` and, last, `eof`' },
      refusals: ['not_found', 'rate_limited'],
      async handle({ caller, params, query, ctx }) {
        const { run_id, db } = await findRun(reads, caller, params.run_id, nounOf(path))
        const from = cursorOf(ctx, query.after) ?? (await startOf(db, run_id, query.tail))
        await openStream(ctx, caller, {
          feeds: [logFeed(reads.shared([run_id]), run_id)],
          from,
          check: () => findRun(reads, caller, run_id),
        })
      },
    }),
  )

const nounOf = (path: string) => (path.startsWith('/api/jobs/') ? 'job' : 'run')

async function startOf(
  db: Kysely<LogTables>,
  runId: string,
  tail: number | undefined,
): Promise<Cursor> {
  if (tail === undefined) return { at: [0], ended: false }
  const { last } = await readLogState(db, runId)
  return { at: [Math.max(0, last - tail)], ended: false }
}

function linkOn(ctx: Context, rel: 'next' | 'prev', scannedTo: number, last: number): void {
  if (rel === 'next' ? scannedTo >= last : scannedTo <= 1) return
  const query = new URLSearchParams(ctx.querystring)
  query.set(rel === 'next' ? 'after' : 'before', String(scannedTo))
  ctx.set('Link', `<${ctx.path}?${query}>; rel="${rel}"`)
}

/** Size of one write, in characters (approximate). */
const pieceLength = 64 * 1024

async function* logTextOf(
  db: Kysely<LogTables>,
  runId: string,
  { isWanted, isGone }: Matcher & { isGone: () => boolean },
): AsyncGenerator<string> {
  let text = ''
  const turn = createTurn()
  for await (const line of linesAfter(db, runId, 0)) {
    const passing = turn.pass()
    if (passing) await passing
    // Otherwise a search without matches would run to the end although its client has left.
    if (isGone()) return
    if (!isWanted(line)) continue
    text += `${line.text}\n`
    if (text.length < pieceLength) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}
