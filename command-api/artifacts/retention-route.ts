import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type RetentionInput,
  type RetentionReport,
  type RunRetention,
  retentionInput,
  retentionLimits,
  retentionReport,
} from '../../schemas/artifacts/retention.ts'
import { type Cause, type HttpAsked, stampOf } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { record } from '../effects/outcome.ts'
import type { Reference } from './protection.ts'
import { deletionsBy, type Expired, expiredOf, type Rules, rulesOf } from './retention.ts'
import { freedBy, isStored, type StoredCheckpoint } from './rows.ts'

export const retentionRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/admin/retention',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Delete checkpoints that runs need not keep; by default only list them',
    body: retentionInput,
    bodyMayBeAbsent: true,
    response: retentionReport,
    refusals: ['invalid'],
    handle: request => applyToRuns(deps, request, request.body),
  })

type Run = { run_id: string; short_id: string; project: string }
/** Where a call stopped: after this checkpoint of the run, or after all of them. */
type Cursor = { run_id: string; behind: { step: number; artifact_id: string } | null }

async function applyToRuns(
  deps: Deps,
  asked: HttpAsked,
  input: RetentionInput,
): Promise<RetentionReport> {
  const cursor = input.after ? parse(input.after) : null
  const found = await runsAfter(deps, input.project ?? null, cursor)
  const report: RetentionReport = {
    ...{ dry_run: input.dry_run, runs: [], artifacts: 0, freed_bytes: 0 },
    next: null,
  }
  for (const [index, run] of found.entries()) {
    const behind = await addRun(deps, asked, { run, input, cursor, report })
    const isLast = index === found.length - 1 && found.length < retentionLimits.runs
    report.next = behind === null && isLast ? null : print({ ...run, behind })
    if (behind !== null || report.artifacts >= retentionLimits.artifacts) break
  }
  return report
}

type Addition = { run: Run; input: RetentionInput; cursor: Cursor | null; report: RetentionReport }

/** Returns where the call has to stop in this run, if it does. */
async function addRun(
  deps: Deps,
  asked: HttpAsked,
  { run, input, cursor, report }: Addition,
): Promise<Cursor['behind']> {
  const rules = await rulesFor(deps, run, input)
  if (rules === null) return null
  const start = cursor?.run_id === run.run_id ? cursor.behind : null
  const room = retentionLimits.artifacts - report.artifacts
  const { row, stoppedAt } = await applyToRun(deps, asked, { run, rules, start, room }, input)
  if (row.artifacts.length + row.protected.length > 0) report.runs.push(row)
  report.artifacts += row.artifacts.length
  report.freed_bytes += row.freed_bytes
  return stoppedAt
}

async function rulesFor(
  deps: Deps,
  { run_id }: Run,
  { keep: wanted, older_than_days }: RetentionInput,
): Promise<Rules | null> {
  const own = await rulesOf(deps, run_id)
  const keep = wanted ?? own.keep
  if (keep === null) return null
  const before = older_than_days
    ? new Date(deps.now().getTime() - older_than_days * 86_400_000)
    : null
  return { run_id, keep, metric: own.metric, before }
}

type Work = { run: Run; rules: Rules; start: Cursor['behind']; room: number }

/** `stoppedAt`: there was no room for the checkpoints after this one. */
async function applyToRun(
  deps: Deps,
  asked: HttpAsked,
  { run, rules, start, room }: Work,
  { dry_run }: RetentionInput,
): Promise<{ row: RunRetention; stoppedAt: Cursor['behind'] }> {
  const expired = await expiredOf(deps.pool, rules)
  const open = expired.unneeded.filter(one => start === null || isBehind(one, start))
  const chosen = open.slice(0, room)
  const { ids, freed } = dry_run
    ? await foretell(deps, chosen)
    : await deleteNow(deps, asked, rules, chosen)
  const done = chosen.filter(one => ids.has(one.artifact_id))
  const row = {
    ...run,
    artifacts: done.map(
      one => ({ ...shown(one), bytes: isStored(one) ? 'stored' : 'left' }) as const,
    ),
    freed_bytes: freed,
    // Named only with the first checkpoints of the run.
    ...protectedOf(start === null ? expired.needed : []),
    kept: expired.kept,
  }
  const last = open.length > chosen.length ? (chosen.at(-1) ?? null) : null
  return { row, stoppedAt: last && checkpointPlaceOf(last) }
}

const checkpointPlaceOf = ({ step, artifact_id }: StoredCheckpoint) => ({
  step: step ?? -1,
  artifact_id,
})

/** In the order of `expiredOf`. */
const isBehind = (
  one: StoredCheckpoint,
  { step, artifact_id }: { step: number; artifact_id: string },
) => (one.step ?? -1) > step || ((one.step ?? -1) === step && one.artifact_id > artifact_id)

const shown = ({ artifact_id, step, path, size_bytes }: StoredCheckpoint) => ({
  artifact_id,
  step,
  path,
  size_bytes,
})

/** Named as in `protected_by` of `GET /api/artifacts/{id}`. */
const protectorOf = ({ kind, run_id, short_id }: Reference) => ({
  type: kind,
  id: kind === 'model' || kind === 'deployment' ? short_id : run_id,
})

const protectedOf = (needed: Expired['needed']) => ({
  protected: needed.slice(0, retentionLimits.named).map(one => ({
    ...shown(one),
    protected_by: one.protection.references.map(protectorOf),
  })),
  protected_total: needed.length,
})

type Done = { ids: ReadonlySet<string>; freed: number }

async function foretell({ pool }: Deps, chosen: readonly StoredCheckpoint[]): Promise<Done> {
  const ids = chosen.map(one => one.artifact_id)
  return { ids: new Set(ids), freed: (await freedBy(pool, ids)) ?? 0 }
}

/** How many deletions share a transaction. */
const together = 100

async function deleteNow(
  deps: Deps,
  asked: HttpAsked,
  rules: Rules,
  chosen: readonly StoredCheckpoint[],
): Promise<Done> {
  const { actor, requestId } = stampOf(asked, deps.now())
  const cause: Cause = { actor, requestId }
  const ids = new Set<string>()
  let freed = 0
  for (let from = 0; from < chosen.length; from += together) {
    let done = { deleted: [] as readonly string[], freed: 0 }
    const some = chosen.slice(from, from + together)
    const outcome = deletionsBy(rules, some, 'retention', told => {
      done = told
    })
    await record(deps, cause, { outcome, unless: async () => false })
    for (const id of done.deleted) ids.add(id)
    freed += done.freed
  }
  return { ids, freed }
}

/** Runs with checkpoints; deleted runs are purged anyway. */
async function runsAfter(
  { pool }: Deps,
  project: string | null,
  cursor: Cursor | null,
): Promise<Run[]> {
  if (project !== null) {
    const { rowCount } = await pool.query(
      `select from write.resource where kind = 'project' and id = $1`,
      [project],
    )
    if (rowCount === 0) throw new Refusal('invalid', `No such project: ${project}`)
  }
  const { rows } = await pool.query<Run>({
    name: 'runs_with_checkpoints',
    text: `select id as run_id, coalesce(name, id) as short_id, project from write.resource r
            where kind = 'run' and deleted_at is null and ($1::text is null or project = $1)
              and case when $3 then id >= $2 else id > $2 end
              and exists (select from write.artifact a
                           where a.run_id = r.id and a.kind = 'checkpoint' and a.deleted_at is null)
            order by id limit $4`,
    values: [project, cursor?.run_id ?? '', cursor?.behind != null, retentionLimits.runs],
  })
  return rows
}

const print = ({ run_id, behind }: Cursor): string =>
  behind === null ? run_id : `${run_id}/${behind.step}/${behind.artifact_id}`

function parse(after: string): Cursor {
  const [, run_id, step, artifact_id] = /^([^/]+)(?:\/(-?\d{1,16})\/([^/]*))?$/.exec(after) ?? []
  if (run_id === undefined)
    throw new Refusal(
      'invalid',
      `after must be the next that an earlier call returned, not ${after}`,
    )
  const behind = step === undefined ? null : { step: Number(step), artifact_id: artifact_id ?? '' }
  return { run_id, behind }
}
