import test from 'ava'
import type { Recorded } from '../../events/event.ts'
import type { RubricEvent } from '../../events/rubrics.ts'
import { database } from '../servers/postgres.ts'
import { project } from '../servers/project.ts'

const content = {
  owner: 'alice',
  name: 'helpful',
  criteria: [{ name: 'tone', weight: 2, description: 'kind' }],
  description: 'd',
  scale_min: 0,
  scale_max: 1,
  visibility: 'private' as const,
  version: 1,
  digest: 'sha256:1',
}
const recorded = (
  version: number,
  at: string,
  by: string,
  digest: string,
): Recorded<RubricEvent> => ({
  type: 'rubric.updated',
  data: { ...content, version, digest },
  event_id: `0190000000007000800000000000000${version}`,
  schema_version: 1,
  stream: 'rubric-alice/helpful',
  stream_version: version,
  occurred_at: at,
  actor: { type: 'user', id: by, via: 'password' },
  request_id: 'r',
  causation_id: null,
})

test('a rubric appears with its first version and keeps its creation time with the next', async t => {
  const { pool } = await database(t)
  await project(pool, [
    recorded(1, '2026-11-01T00:00:00.000Z', 'alice', 'sha256:1'),
    recorded(2, '2026-11-02T00:00:00.000Z', 'root', 'sha256:2'),
  ])
  const { rows } = await pool.query('select * from read.rubrics')
  t.is(rows.length, 1)
  t.like(rows[0], {
    owner: 'alice',
    name: 'helpful',
    criteria: content.criteria,
    version: 2,
    digest: 'sha256:2',
    created_at: new Date('2026-11-01T00:00:00.000Z'),
    updated_at: new Date('2026-11-02T00:00:00.000Z'),
    updated_by: 'root',
  })
})
