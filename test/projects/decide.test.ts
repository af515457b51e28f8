import test from 'ava'
import { changeSettings, removeMember, setMember } from '../../command-api/projects/decide.ts'
import { type Project, type ProjectEvent, projects } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folded } from '../folded.ts'

const name = 'demo'
const created: ProjectEvent = {
  type: 'project.created',
  data: { name, owner: 'ada', visibility: 'private' },
}
const member = (
  username: string,
  role: 'viewer' | 'member' | 'maintainer' = 'member',
): ProjectEvent => ({ type: 'project.member_set', data: { name, username, role } })
const removed = (username: string): ProjectEvent => ({
  type: 'project.member_removed',
  data: { name, username },
})
const after = (...events: ProjectEvent[]): Project => folded(projects, [created, ...events])
const by = (username: string, role: 'operator' | 'admin' = 'operator') => ({
  caller: { username, role },
  name,
  teamRole: null,
})
const code = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof Refusal) return `${error.code}: ${error.detail}`
    throw error
  }
  return 'done'
}

test('settings are changed one by one, and absent ones stay', t => {
  const noted: ProjectEvent = {
    type: 'project.changed',
    data: { name, visibility: 'private', notes: 'hello' },
  }
  t.deepEqual(changeSettings(after(), by('ada'), { notes: 'hello' }), [noted])
  t.deepEqual(changeSettings(after(noted), by('ada'), { visibility: 'internal' }), [
    { type: 'project.changed', data: { name, visibility: 'internal', notes: 'hello' } },
  ])
})

test('repeating a setting appends no event', t => {
  t.deepEqual(changeSettings(after(), by('ada'), {}), [])
  t.deepEqual(changeSettings(after(), by('ada'), { visibility: 'private', notes: '' }), [])
  const again = { username: 'bob', role: 'member' as const }
  t.deepEqual(setMember(after(member('bob')), by('ada'), again), [])
})

test('a member gets a role, another role, and is removed', t => {
  const viewer = { username: 'bob', role: 'viewer' as const }
  t.deepEqual(setMember(after(), by('ada'), viewer), [member('bob', 'viewer')])
  t.deepEqual(setMember(after(member('bob')), by('ada'), viewer), [member('bob', 'viewer')])
  t.deepEqual(removeMember(after(member('bob')), by('ada'), 'bob'), [removed('bob')])
  t.is(
    code(() => removeMember(after(member('bob'), removed('bob')), by('ada'), 'bob')),
    'not_found: bob is not a member of project demo',
  )
})

test('the owner can neither be removed nor given a lesser role', t => {
  const refusal =
    'conflict: ada owns project demo, and an owner can be neither removed nor given another role'
  for (const who of [by('ada'), by('root', 'admin')]) {
    t.is(
      code(() => removeMember(after(), who, 'ada')),
      refusal,
    )
    t.is(
      code(() => setMember(after(), who, { username: 'ada', role: 'viewer' })),
      refusal,
    )
  }
})

test('maintainers and admins change a project; for members this is forbidden, for others the project looks missing', t => {
  const at = after(member('max', 'maintainer'), member('mia'), member('vic', 'viewer'))
  const change = (project: Project, who: ReturnType<typeof by>) =>
    code(() => changeSettings(project, who, { notes: 'x' }))
  for (const who of [by('ada'), by('max'), by('root', 'admin')]) t.is(change(at, who), 'done')
  for (const who of [by('mia'), by('vic')])
    t.is(change(at, who), 'forbidden: Only ada, maintainers and admins may change project demo')
  t.is(change(at, by('eve')), 'not_found: No such project: demo')
  t.is(change(projects.initial, by('eve')), 'not_found: No such project: demo')
  t.is(change(projects.initial, by('root', 'admin')), 'not_found: No such project: demo')
  const opened = after({
    type: 'project.changed',
    data: { name, visibility: 'internal', notes: '' },
  })
  t.regex(change(opened, by('eve')), /^forbidden/)
})

test('names of built-in properties are ordinary names', t => {
  t.deepEqual(setMember(after(), by('ada'), { username: 'constructor', role: 'member' }), [
    member('constructor'),
  ])
  t.is(
    code(() => changeSettings(after(), by('constructor'), { notes: 'x' })),
    'not_found: No such project: demo',
  )
})
