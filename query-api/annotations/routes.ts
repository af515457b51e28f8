import { sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import {
  type AnnotationDetail,
  annotationAgreement,
  annotationDetail,
  annotationHistoryQuery,
  annotationHistoryRow,
  annotationItemPath,
  annotationListQuery,
  annotationRow,
} from '../../schemas/annotations.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { roleIn } from '../rules/access.ts'
import { againstJudges, type Judged } from './against-judges.ts'
import { agreementOf } from './agreement.ts'
import { type Db, mayReadAnswer, mayReadQueue, ofQueue, type Tables } from './find.ts'

export type { Tables } from './find.ts'

/** The known scores of samples by a version of a rubric, as far as the caller may see them. */
export type ReadJudgeScores = (
  caller: Person,
  of: { rubric: string; runs: readonly string[] },
) => Promise<Judged[]>

export const annotationRoutes = (
  reads: Reads<Tables>,
  readJudgeScores: ReadJudgeScores,
): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/annotations',
    tag: 'annotations',
    summary: 'List the annotation queues of the projects that you may read, newest first',
    query: annotationListQuery,
    row: annotationRow,
    matching({ db }, { caller, query: { project, state } }) {
      let found = db.selectFrom('annotation_queues as q').where(mayReadQueue(caller))
      if (project !== undefined) found = found.where('q.project', '=', project)
      if (state !== undefined) found = found.where('q.state', '=', state)
      return found
    },
    select: queues => queues.selectAll('q').orderBy('q.created_at', 'desc').orderBy('q.queue_id'),
    shape: rows => rows.map(toRow),
  }),
  detailRoute(reads),
  historyRoute(reads),
  agreementRoute(reads, readJudgeScores),
]

const detailRoute = (reads: Reads<Tables>): Route =>
  one({
    ...ofQueue(reads),
    path: '/api/annotations/{queue_id}',
    tag: 'annotations',
    summary: 'Read an annotation queue with its progress, by person as well',
    response: annotationDetail,
    async read({ db, queue }, { caller }): Promise<AnnotationDetail> {
      const { instructions, rubric, exports } = queue
      const people = await peopleOf(db, queue.queue_id)
      const may = await standingIn(db, caller, queue)
      return {
        ...toRow(queue),
        ...{ instructions, rubric, people, may },
        exports: exports.map(one => ({
          ...one,
          exported_at: toTimestamp(new Date(one.exported_at)),
        })),
      }
    },
  })

const historyRoute = (reads: Reads<Tables>): Route =>
  list({
    ...ofQueue(reads),
    path: '/api/annotations/{queue_id}/items/{item}',
    tag: 'annotations',
    summary: 'What people did with an item of an annotation queue, newest first',
    params: annotationItemPath,
    query: annotationHistoryQuery,
    row: annotationHistoryRow,
    matching: ({ db, queue }, { caller, params: { item } }) =>
      db
        .selectFrom('annotation_answers as a')
        .where('queue_id', '=', queue.queue_id)
        .where('item', '=', item)
        .where(mayReadAnswer(caller, queue)),
    select: answers =>
      answers
        .select(['item', 'username', 'what', 'answer', 'sources', 'at'])
        .orderBy('at', 'desc')
        .orderBy('event_id', 'desc'),
    shape: rows => rows.map(row => ({ ...row, at: toTimestamp(row.at) })),
  })

const agreementRoute = (reads: Reads<Tables>, readJudgeScores: ReadJudgeScores): Route =>
  one({
    ...ofQueue(reads),
    path: '/api/annotations/{queue_id}/agreement',
    tag: 'annotations',
    summary: 'How well people agree in an annotation queue, with each other and with a judge',
    response: annotationAgreement,
    async read({ db, queue }, { caller }) {
      const answers = await db
        .selectFrom('annotation_answers')
        .select(['item', 'username', 'answer', 'judge', 'sources'])
        .where('queue_id', '=', queue.queue_id)
        .where('is_current', '=', true)
        .where('what', '=', 'answered')
        .orderBy('item')
        .orderBy('username')
        .execute()
      const { rubric, source } = queue
      const runs = [source.run_id, source.against?.run_id].filter(id => typeof id === 'string')
      const judged =
        rubric && runs.length > 0 ? await readJudgeScores(caller, { rubric: rubric.ref, runs }) : []
      return {
        ...agreementOf(queue, answers),
        judges: rubric ? againstJudges(rubric, answers, judged) : [],
      }
    },
  })

type QueueRow = Awaited<ReturnType<ReturnType<typeof ofQueue>['of']>>['queue']

const toRow = ({
  queue_id,
  name,
  project,
  owner,
  kind,
  state,
  overlap,
  source,
  ...rest
}: QueueRow) => ({
  ...{ queue_id, name, project, owner, kind, state, overlap, source },
  items: rest.items,
  completed: rest.completed,
  answers: rest.answers,
  skips: rest.skips,
  created_at: toTimestamp(rest.created_at),
  updated_at: toTimestamp(rest.updated_at),
})

async function peopleOf(db: Db, queue_id: string) {
  const { rows } = await sql<{ username: string; answers: number; skips: number }>`
    select username, (count(*) filter (where what = 'answered'))::int as answers,
           (count(*) filter (where what = 'skipped'))::int as skips
      from annotation_answers where queue_id = ${queue_id} and is_current
     group by username order by 2 desc, 1 limit 100`.execute(db)
  return rows
}

/** As `command-api/annotations/find.ts` decides. */
async function standingIn(
  db: Db,
  { username, role }: Person,
  { project, owner }: Pick<QueueRow, 'project' | 'owner'>,
): Promise<AnnotationDetail['may']> {
  if (role === 'admin') return 'manage'
  const { rows } = await sql<{ owner: string; role: string | null }>`
    select p.owner, ${roleIn(sql`p.name`, username)} as role from projects p where p.name = ${project}`.execute(
    db,
  )
  const [found] = rows
  if (found?.owner === username || found?.role === 'maintainer') return 'manage'
  if (found?.role !== 'member') return 'read'
  return owner === username ? 'manage' : 'annotate'
}
