import type { Pool } from 'pg'
import type { AnnotationEvent } from '../../events/annotations.ts'
import type {
  AnnotationJudge,
  AnnotationKind,
  AnnotationRubric,
} from '../../schemas/annotations.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { AnsweredItem } from './export-rows.ts'
import type { Item } from './items.ts'

export type QueueRow = {
  queue_id: string
  name: string
  project: string
  owner: string
  kind: AnnotationKind
  overlap: number
  is_open: boolean
  runs: string[]
  dataset: string | null
  rubric: AnnotationRubric | null
}

const columns = 'queue_id, name, project, owner, kind, overlap, is_open, runs, dataset, rubric'

export async function findQueue(
  db: Pool | Transaction,
  queue_id: string,
): Promise<QueueRow | null> {
  const { rows } = await db.query<QueueRow>({
    name: 'annotation_queue',
    text: `select ${columns} from write.annotation_queue where queue_id = $1`,
    values: [queue_id],
  })
  return rows[0] ?? null
}

export const countQueues = async (tx: Transaction, project: string): Promise<number> => {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from write.annotation_queue where project = $1',
    [project],
  )
  return rows[0]?.count ?? 0
}

/** Items are numbered from 1. */
export async function insertQueue(
  tx: Transaction,
  { rubric, ...queue }: QueueRow,
  items: readonly Item[],
): Promise<void> {
  await tx.query(
    `insert into write.annotation_queue (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      ...[queue.queue_id, queue.name, queue.project, queue.owner, queue.kind, queue.overlap],
      ...[queue.is_open, queue.runs, queue.dataset, rubric && JSON.stringify(rubric)],
    ],
  )
  for (const [first, part] of partsOf(items)) {
    const json = part.map((item, nth) => ({ ...item, item: first + nth + 1 }))
    await tx.query(
      `insert into write.annotation_item (queue_id, item, digest, prompt, responses, sources, judge, is_done)
       select $1, i.item, i.digest, i.prompt, i.responses, i.sources, i.judge, false
         from jsonb_to_recordset($2) as i (item int, digest text, prompt jsonb, responses text[], sources text[], judge jsonb)`,
      [queue.queue_id, JSON.stringify(json)],
    )
  }
}

const itemsOfPart = 200

/** A statement of all items could be larger than a value may be. */
function* partsOf(items: readonly Item[]): Generator<[number, readonly Item[]]> {
  for (let first = 0; first < items.length; first += itemsOfPart)
    yield [first, items.slice(first, first + itemsOfPart)]
}

export async function saveOpen(
  tx: Transaction,
  { events }: { events: readonly AnnotationEvent[] },
): Promise<void> {
  for (const { type, data } of events)
    if (type === 'annotation.queue_closed' || type === 'annotation.queue_reopened')
      await tx.query('update write.annotation_queue set is_open = $2 where queue_id = $1', [
        data.queue_id,
        type === 'annotation.queue_reopened',
      ])
}

export type ItemRow = { digest: string; sources: string[]; judge: AnnotationJudge }

export async function findItem(
  tx: Transaction,
  queue_id: string,
  item: number,
): Promise<ItemRow | null> {
  const { rows } = await tx.query<ItemRow>(
    'select digest, sources, judge from write.annotation_item where queue_id = $1 and item = $2',
    [queue_id, item],
  )
  return rows[0] ?? null
}

/** All items that somebody has answered, in order, with the people by name. */
export async function answeredItems(tx: Transaction, queue_id: string): Promise<AnsweredItem[]> {
  const { rows } = await tx.query<AnsweredItem>(
    `select i.item, i.digest, i.prompt, i.responses, i.sources,
            jsonb_agg(jsonb_build_object('username', c.username, 'answer', c.answer)
                      order by c.username collate "C") as answers
       from write.annotation_item i
       join write.annotation_claim c on c.queue_id = i.queue_id and c.item = i.item and c.state = 'answered'
      where i.queue_id = $1
      group by i.queue_id, i.item order by i.item`,
    [queue_id],
  )
  return rows
}

/** The copies of a run's samples are deleted with the run; the answers stay in the events. */
export async function deleteItemsOfRun(tx: Transaction, run_id: string): Promise<void> {
  for (const table of ['annotation_item', 'annotation_claim'])
    await tx.query(
      `delete from write.${table} where queue_id in
         (select queue_id from write.annotation_queue where runs @> array[$1])`,
      [run_id],
    )
}
