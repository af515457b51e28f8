import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Recorded } from '../../events/event.ts'
import type { MlflowEvent } from '../../events/mlflow.ts'
import { recordedAbout } from '../mlflow/recorded.ts'
import { database } from '../servers/postgres.ts'
import { project } from '../servers/project.ts'

const golden = join(import.meta.dirname, '../golden/events/job.admitted.v3.json')
const first: Recorded<{ type: string; data: { run_id: string; spec: Spec } }> = JSON.parse(
  readFileSync(golden, 'utf8'),
)
type Spec = { metadata: { labels: Record<string, string> } }
const { run_id } = first.data

const admitted = (labels: Record<string, string>) => {
  const { spec } = first.data
  const metadata = { ...spec.metadata, labels }
  return { ...first, data: { ...first.data, spec: { ...spec, metadata } } }
}

const recorded = recordedAbout(run_id)

const set = (tags: Record<string, string>): MlflowEvent => ({
  type: 'mlflow.tags_set',
  data: { run_id, tags },
})
const drop = (key: string): MlflowEvent => ({ type: 'mlflow.tag_deleted', data: { run_id, key } })

test("the labels of a run are its job's, replaced by MLflow's tags while they exist", async t => {
  const { pool } = await database(t)
  const events: MlflowEvent[] = [
    set({ team: 'rl', ticket: 'ML-7', 'mlflow.user': 'root', ['__proto__']: 'x', 'a"b': 'ü' }),
    set({ team: 'nlp', gone: 'y', 'mlflow.note.content': 'first' }),
    set({ long: 'x'.repeat(8000), 'mlflow.note.content': 'tries more heads' }),
    drop('gone'),
    drop('ticket'),
  ]
  await project(pool, [admitted({ ticket: 'ML-142', series: 'ablation' }), ...events.map(recorded)])
  const { rows: labels } = await pool.query(
    'select * from read.run_labels order by key collate "C"',
  )
  const of = (key: string, value: string, of_job: string | null = null) => ({
    ...{ run_id, key, value, of_job },
  })
  t.deepEqual(labels, [
    of('__proto__', 'x'),
    of('a"b', 'ü'),
    of('long', 'x'.repeat(8000)),
    of('series', 'ablation', 'ablation'),
    of('team', 'nlp'),
    of('ticket', 'ML-142', 'ML-142'),
  ])
})
