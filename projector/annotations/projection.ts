import { type Kysely, sql } from 'kysely'
import type { AnnotationAnswerEvent } from '../../events/annotation-answers.ts'
import type { AnnotationEvent } from '../../events/annotations.ts'
import type { Recorded } from '../../events/event.ts'
import type { Handlers } from '../projection.ts'
import type { AnnotationTables } from './table.ts'

type Tx = Kysely<AnnotationTables>
type Named = { data: { queue_id: string }; occurred_at: string }

export const annotationProjection: Handlers<
  AnnotationTables,
  AnnotationEvent | AnnotationAnswerEvent
> = {
  'annotation.queue_created': (tx, { data: { digest: _, ...queue }, occurred_at }) =>
    tx
      .insertInto('annotation_queues')
      .values({
        ...queue,
        source: JSON.stringify(queue.source),
        rubric: queue.rubric && JSON.stringify(queue.rubric),
        ...{ state: 'open', completed: 0, answers: 0, skips: 0, exports: '[]' },
        ...{ created_at: occurred_at, updated_at: occurred_at },
      })
      .execute(),
  'annotation.queue_closed': (tx, event) => setState(tx, event, 'closed'),
  'annotation.queue_reopened': (tx, event) => setState(tx, event, 'open'),
  'annotation.queue_exported': (tx, { data: { queue_id, ref, rows }, occurred_at }) => {
    const exported = JSON.stringify([{ ref, rows, exported_at: occurred_at }])
    return tx
      .updateTable('annotation_queues')
      .set({
        exports: sql<string>`(select jsonb_agg(e) from (select e from jsonb_array_elements(${exported}::jsonb || exports) e limit ${mostExports}) newest)`,
        updated_at: occurred_at,
      })
      .where('queue_id', '=', queue_id)
      .execute()
  },
  async 'annotation.answered'(tx, event) {
    const { answer, judge } = event.data
    await insert(tx, event, {
      ...{ what: 'answered', is_current: true },
      ...{ answer: JSON.stringify(answer), judge: JSON.stringify(judge) },
    })
    await count(tx, event, { answers: 1, skips: 0 })
  },
  async 'annotation.skipped'(tx, event) {
    await insert(tx, event, { what: 'skipped', is_current: true, answer: null, judge: null })
    await count(tx, event, { answers: 0, skips: 1 })
  },
  async 'annotation.undone'(tx, event) {
    const { queue_id, item, username } = event.data
    const undone = await tx
      .updateTable('annotation_answers')
      .set({ is_current: false })
      .where('queue_id', '=', queue_id)
      .where('item', '=', item)
      .where('username', '=', username)
      .where('is_current', '=', true)
      .returning('what')
      .executeTakeFirst()
    await insert(tx, event, { what: 'undone', is_current: false, answer: null, judge: null })
    const wasAnswer = undone?.what === 'answered'
    await count(tx, event, wasAnswer ? { answers: -1, skips: 0 } : { answers: 0, skips: -1 })
  },
}

const mostExports = 100

const setState = (tx: Tx, { data, occurred_at }: Named, state: 'open' | 'closed') =>
  tx
    .updateTable('annotation_queues')
    .set({ state, updated_at: occurred_at })
    .where('queue_id', '=', data.queue_id)
    .execute()

const insert = (
  tx: Tx,
  { event_id, data, occurred_at }: Recorded<AnnotationAnswerEvent>,
  given: {
    what: 'answered' | 'skipped' | 'undone'
    is_current: boolean
    answer: string | null
    judge: string | null
  },
) => {
  const { queue_id, item, username, sources } = data
  return tx
    .insertInto('annotation_answers')
    .values({ event_id, queue_id, item, username, sources, at: occurred_at, ...given })
    .execute()
}

/** Incremental, because recounting a queue for each event would take longer with every event. */
const count = (
  tx: Tx,
  { data: { queue_id, item }, occurred_at }: Named & { data: { item: number } },
  { answers, skips }: { answers: 1 | 0 | -1; skips: 1 | 0 | -1 },
) =>
  sql`
    update annotation_queues q
       set answers = q.answers + ${answers}, skips = q.skips + ${skips}, updated_at = ${occurred_at},
           completed = q.completed
             + (case when i.answers >= q.overlap then 1 else 0 end)
             - (case when i.answers - ${answers} >= q.overlap then 1 else 0 end)
      from (select count(*)::int as answers from annotation_answers
             where queue_id = ${queue_id} and item = ${item} and is_current and what = 'answered') i
     where q.queue_id = ${queue_id}`.execute(tx)
