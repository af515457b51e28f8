import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import type { PlacedJob, QueueBook, WaitingJob } from '../../events/calculations/queue-picture.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import {
  type QueueExplanation,
  type QueueRow,
  queueExplanation,
  queueList,
  queueQuery,
  queueSwitches,
} from '../../schemas/queue.ts'
import { toTimestamp, toTimestampOrNull } from '../../schemas/timestamp.ts'
import { one } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, noSuchJob, ofRun, readableProjects } from '../rules/access.ts'
import { byEnd, type Facts, soonerThan, waitInWords } from './explain.ts'

export type Tables = AccessTables & JobTables
export type QueueDeps = { reads: Reads<Tables>; queue: QueueBook }

export const queueRoutes = ({ reads, queue }: QueueDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/queue',
    credential: 'person',
    tag: 'queue',
    summary: 'List the jobs that wait, in the order in which they are to start, and why',
    query: queueQuery,
    response: queueList,
    async handle({ caller, query }) {
      const db = reads.as(caller)
      return listOf(await readFacts(queue, db, caller), db, query)
    },
  }),
  one({
    ...ofRun(reads, 'job'),
    path: '/api/queue/{run_id}',
    tag: 'queue',
    summary: 'Why a job waits, who is ahead of it, and what would start it sooner',
    response: queueExplanation,
    missing: noSuchJob,
    async read({ run_id, db }, { caller }) {
      const job = await db
        .selectFrom('jobs')
        .select(['run_id', 'short_id', 'state'])
        .where('run_id', '=', run_id)
        .executeTakeFirst()
      if (!job) return
      if (!['queued', 'held'].includes(job.state))
        return { ...notWaiting, ...job, detail: stateInWords(job) }
      const facts = await readFacts(queue, db, caller, [run_id])
      const all = [...facts.picture.waiting, ...facts.picture.held.map(heldJob)]
      const placed = all.find(other => other.job.run_id === run_id)
      return placed
        ? explained(placed, facts)
        : { ...notWaiting, ...job, detail: stateInWords(job) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/admin/queue',
    credential: 'admin',
    tag: 'admin',
    summary: 'Whether the queue is paused, and which engines are being drained',
    response: queueSwitches,
    handle: () => queue.switches(),
  }),
]

async function listOf(
  facts: Facts,
  db: Kysely<JobTables>,
  { limit = 50, offset = 0 }: { limit?: number; offset?: number },
) {
  const { picture, switches, maySee } = facts
  const all = [...picture.waiting, ...picture.held.map(heldJob)]
  const seen = all.filter(({ job }) => maySee(job))
  const page = seen.slice(offset, offset + limit)
  const names = await readNames(db, page)
  return {
    paused: switches.paused ? { reason: switches.reason, since: switches.changed_at } : null,
    draining: switches.engines
      .filter(({ draining }) => draining)
      .map(({ engine, reason, since }) => ({ engine, reason, since })),
    waiting: {
      jobs: all.length,
      gpus: all.reduce((sum, { job }) => sum + job.gpus, 0),
      hidden: all.length - seen.length,
    },
    // If row-level security hides a job's name, the job is hidden, too.
    jobs: page.flatMap(placed => {
      const name = names.get(placed.job.run_id)
      return name === undefined ? [] : toRow(placed, name, facts)
    }),
  }
}

async function readFacts(
  queue: QueueBook,
  db: Kysely<AccessTables>,
  caller: Person,
  asked: readonly string[] = [],
): Promise<Facts> {
  const [picture, switches, projects] = await Promise.all([
    queue.picture(asked),
    queue.switches(),
    readableProjects(db, caller),
  ])
  const readable = projects === null ? null : new Set(projects)
  return {
    picture,
    switches,
    maySee: ({ owner, project }) =>
      readable === null || owner === caller.username || readable.has(project),
  }
}

async function readNames(
  db: Kysely<JobTables>,
  page: readonly Listed[],
): Promise<Map<string, string>> {
  const ids = page.map(({ job }) => job.run_id)
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('jobs')
    .select(['run_id', 'name'])
    .where('run_id', 'in', ids)
    .execute()
  return new Map(rows.map(({ run_id, name }) => [run_id, name]))
}

/** A held job has no place. */
type Listed = Omit<PlacedJob, 'position' | 'ahead_gpus'> & {
  position: number | null
  ahead_gpus: number | null
}

const heldJob = (job: WaitingJob): Listed => ({
  job,
  position: null,
  ahead_gpus: null,
  eta_s: null,
})

const toRow = ({ job, ...place }: Listed, name: string, facts: Facts): QueueRow => ({
  ...place,
  run_id: job.run_id,
  short_id: job.short_id,
  name,
  project: job.project,
  owner: job.owner,
  state: place.position === null ? 'held' : 'queued',
  reason: job.reason,
  detail: waitInWords(job, facts),
  gpus: job.gpus,
  profile: job.profile,
  series: job.series,
  executor: job.executor,
  priority: job.priority,
  submitted_at: toTimestamp(job.admitted_at),
  not_before: toTimestampOrNull(job.not_before),
})

/** Names of the jobs ahead, and of the jobs that hold GPUs. */
const mostShown = 20

const notWaiting = {
  position: null,
  reason: null,
  eta_s: null,
  ahead: { jobs: 0, gpus: 0, hidden: 0, first: [] },
  sooner: [],
  ends_next: [],
}

const stateInWords = ({ state }: { state: string }) =>
  state === 'succeeded' || state === 'failed'
    ? `It does not wait: it has ${state}.`
    : `It does not wait: it is ${state}.`

function explained({ job, position, ahead_gpus, eta_s }: Listed, facts: Facts): QueueExplanation {
  const { picture, maySee } = facts
  const ahead = position === null ? [] : picture.waiting.slice(0, position - 1)
  const seen = ahead.filter(other => maySee(other.job))
  const holding = byEnd(picture.holding.filter(({ executor }) => executor === job.executor))
  return {
    run_id: job.run_id,
    short_id: job.short_id,
    state: position === null ? 'held' : 'queued',
    position,
    reason: job.reason,
    detail: waitInWords(job, facts),
    eta_s,
    ahead: {
      jobs: ahead.length,
      gpus: ahead_gpus ?? 0,
      hidden: ahead.length - seen.length,
      first: seen.slice(0, mostShown).map(other => ({
        position: other.position,
        run_id: other.job.run_id,
        short_id: other.job.short_id,
        owner: other.job.owner,
        gpus: other.job.gpus,
        reason: other.job.reason,
      })),
    },
    sooner:
      position === null || ahead_gpus === null
        ? []
        : soonerThan({ job, position, ahead_gpus, eta_s }, facts),
    ends_next: holding.slice(0, mostShown).map(other => {
      const { run_id, short_id, owner } = maySee(other) ? other : nobody
      return {
        run_id,
        short_id,
        owner,
        gpus: other.gpus,
        profile: other.profile,
        left_s: other.left_s,
      }
    }),
  }
}

const nobody = { run_id: null, short_id: null, owner: null }
