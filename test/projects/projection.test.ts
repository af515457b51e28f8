import test from 'ava'
import type { Recorded } from '../../events/event.ts'
import type { ProjectEvent } from '../../events/projects.ts'
import { database } from '../servers/postgres.ts'
import { project } from '../servers/project.ts'

const at = (version: number) => `2026-11-0${version}T00:00:00.000Z`

const recorded = (version: number, event: ProjectEvent): Recorded<ProjectEvent> => ({
  ...event,
  event_id: `0190000000007000800000000000000${version}`,
  schema_version: 1,
  stream: 'project-demo',
  stream_version: version,
  occurred_at: at(version),
  actor: { type: 'user', id: 'ada', via: 'password' },
  request_id: 'r',
  causation_id: null,
})

const member = (username: string, role: 'viewer' | 'maintainer'): ProjectEvent => ({
  type: 'project.member_set',
  data: { name: 'demo', username, role },
})

test('a project appears with its first run, changes, and has its current members', async t => {
  const { pool } = await database(t)
  const events: ProjectEvent[] = [
    { type: 'project.created', data: { name: 'demo', owner: 'ada', visibility: 'private' } },
    { type: 'project.changed', data: { name: 'demo', visibility: 'internal', notes: 'n' } },
    member('bob', 'viewer'),
    member('bob', 'maintainer'),
    member('eve', 'viewer'),
    { type: 'project.member_removed', data: { name: 'demo', username: 'eve' } },
    member('lin', 'viewer'),
    { type: 'project.transferred', data: { name: 'demo', team: 'rl', owner: 'lin' } },
  ]
  await project(
    pool,
    events.map((event, index) => recorded(index + 1, event)),
  )
  const { rows: projects } = await pool.query('select * from read.projects')
  t.deepEqual(projects, [
    {
      name: 'demo',
      owner: 'lin',
      visibility: 'internal',
      created_at: new Date(at(1)),
      notes: 'n',
      team: 'rl',
    },
  ])
  const { rows: members } = await pool.query('select * from read.project_members')
  t.deepEqual(members, [
    { project: 'demo', username: 'bob', role: 'maintainer', since: new Date(at(3)) },
  ])
})
