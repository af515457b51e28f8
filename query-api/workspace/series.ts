import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Route, route } from '../../auth/route.ts'
import {
  type ProjectSeries,
  type ProjectSeriesQuery,
  projectSeries,
  projectSeriesQuery,
  seriesLimits,
} from '../../schemas/series.ts'
import { Invalid } from '../../schemas/validate.ts'
import { parseKeys } from '../reading/page.ts'
import { inProject } from '../rules/access.ts'
import { curvesOfGroups, curvesOfRuns } from './columns.ts'
import type { WorkspaceDeps } from './deps.ts'
import { groupRuns, parseGroup } from './groups.ts'
import { readLastValues } from './last-values.ts'

export const seriesRoute = (deps: WorkspaceDeps): Route => {
  const { of, ...access } = inProject(deps.reads)
  return route({
    ...access,
    method: 'GET',
    path: '/api/projects/{name}/series',
    tag: 'projects',
    summary: 'The curves of many runs of a project, of each run or of groups',
    query: projectSeriesQuery,
    response: projectSeries,
    async handle(request) {
      const { caller, params, query, ctx } = request
      const { db } = await of(request)
      const { by, keys, ids } = parsed(query)
      const limit = by === null ? seriesLimits.runs : seriesLimits.runsInGroups
      const found = await deps.runsOfProject(db, caller, {
        ...{ project: params.name, q: query.q, ids, limit },
      })
      const ofRuns = deps.reads.as(
        caller,
        found.runs.map(run => run.run_id),
      )
      const runIds = found.runs.map(run => run.run_id)
      const grouped = await groupRuns(ofRuns, found.runs, by)
      const reports = await deps.countReports(ofRuns, runIds)
      const head = {
        matched: found.matched,
        runs: found.runs.map(({ run_id, short_id, name, state }) => ({
          ...{ run_id, short_id, name, state, reports: reports.get(run_id) ?? 0 },
        })),
        ...grouped,
      }
      const etag = etagOf([head, found.runs.map(startOf), ctx.querystring])
      ctx.set('ETag', etag)
      ctx.set('Cache-Control', 'private, no-cache')
      if (ctx.get('if-none-match') === etag) {
        ctx.status = 304
        return
      }
      const groups = grouped.groups?.map(group => group.runs)
      const curves = await deps.readCurves(ofRuns, {
        ...{
          keys,
          axis: query.x ?? 'step',
          buckets: bucketsFor(query, keys.length, runIds.length),
        },
        ...{
          from: query.from ?? Number.NEGATIVE_INFINITY,
          to: query.to ?? Number.POSITIVE_INFINITY,
        },
        runs: found.runs.map(run => ({ runId: run.run_id, startMs: startOf(run) })),
        withExtremes: by === null && query.band === 'minmax',
      })
      const last = groups ? await readLastValues(ofRuns, runIds, keys) : null
      ctx.type = 'application/json; charset=utf-8'
      ctx.body = Readable.from(
        inPieces(head, curves, one =>
          groups
            ? curvesOfGroups(one, groups, {
                band: query.band ?? 'minmax',
                last: last?.get(one.key) ?? [],
              })
            : curvesOfRuns(one, query.band === 'minmax'),
        ),
      )
    },
  })
}

function parsed({ keys, runs, group, band }: ProjectSeriesQuery) {
  const by = parseGroup(group)
  if (band === 'std' && by === null)
    throw new Invalid([
      {
        loc: ['query', 'band'],
        msg: "A single run has no standard deviation: name a group, or use 'minmax'",
        type: 'value_error',
        input: band,
      },
    ])
  const most = by === null ? seriesLimits.runs : seriesLimits.runsInGroups
  return {
    by,
    keys: parseKeys(keys, 'keys', seriesLimits.keys),
    ids: runs === undefined ? null : parseKeys(runs, 'runs', most),
  }
}

const startOf = ({ started_at, created_at }: { started_at: Date | null; created_at: Date }) =>
  (started_at ?? created_at).getTime()

const bucketsFor = ({ buckets = 1000 }: ProjectSeriesQuery, keys: number, runs: number) =>
  Math.max(2, Math.min(buckets, Math.floor(seriesLimits.buckets / Math.max(1, keys * runs))))

/** Weak, because points that were compacted meanwhile are averaged from other parts, which may change the last digit. */
const etagOf = (of: unknown) =>
  `W/"${createHash('sha256').update(JSON.stringify(of)).digest('base64url').slice(0, 22)}"`

/** Key by key, so that other requests are served between the keys of a long response. */
function* inPieces<K>(
  head: Omit<ProjectSeries, 'keys'>,
  keys: readonly K[],
  shape: (key: K) => ProjectSeries['keys'][number],
): Generator<Buffer> {
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"keys":[`)
  for (const [i, key] of keys.entries())
    yield Buffer.from(`${i > 0 ? ',' : ''}${JSON.stringify(shape(key))}`)
  yield Buffer.from(']}')
}
