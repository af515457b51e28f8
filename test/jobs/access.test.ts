import test from 'ava'
import { jobToActOn } from '../../command-api/jobs/access.ts'
import type { Person } from '../../platform/http/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type Stage, stage } from './stage.ts'

const person = (username: string, role: Person['role'] = 'operator'): Person => ({
  kind: 'person',
  username,
  role,
  sid: 's',
  via: 'test',
  issuedAt: new Date(0),
  expiresAt: new Date(0),
})

const outcome = async ({ pool }: Stage, asked: string, who: Person): Promise<string> => {
  try {
    return await jobToActOn(pool, asked, who)
  } catch (error) {
    if (error instanceof Refusal) return `${error.status} ${error.detail}`
    throw error
  }
}

test('owner, project owner, maintainer and admin act on a job; others may not, or know nothing of it', async t => {
  const at = await stage(t)
  const { run_id, short_id } = await at.submit({}, { username: 'ada' })
  await at.pool.query(
    `insert into write.project_member (project, username, role)
     values ('of-ada', 'max', 'maintainer'), ('of-ada', 'mia', 'member'), ('of-ada', 'vic', 'viewer')`,
  )
  for (const who of [person('ada'), person('max'), person('root', 'admin')])
    t.is(await outcome(at, short_id, who), run_id)
  for (const username of ['mia', 'vic'])
    t.is(
      await outcome(at, run_id, person(username)),
      '403 Only ada, maintainers of its project and admins act on this job',
    )
  t.is(await outcome(at, run_id, person('eve')), `404 No such job: ${run_id}`)
  t.is(await outcome(at, 'run_other', person('eve')), '404 No such job: run_other')
  await at.pool.query(`update write.project set visibility = 'internal'`)
  t.regex(await outcome(at, run_id, person('eve')), /^403/)
})

test("a job's own number is in the project it was submitted to, and strangers submit nothing to it", async t => {
  const at = await stage(t)
  t.is((await at.submit({}, { username: 'ada' })).short_id, 'of-ada-1')
  t.is((await at.submit({}, { username: 'ada' })).short_id, 'of-ada-2')
  const stranger = at.submit({}, { username: 'eve' }, 'of-ada')
  await t.throwsAsync(stranger, {
    instanceOf: Refusal,
    message: /^Project of-ada belongs to others/,
  })
  const admin = await at.submit({}, { username: 'root', role: 'admin' }, 'of-ada')
  t.is(admin.short_id, 'of-ada-3')
})

test('rubrics that are referred to must exist, in that version, for the one who refers to them', async t => {
  const at = await stage(t)
  const rubric = (name: string, visibility: 'public' | 'private', version: number) => ({
    type: 'rubric.updated' as const,
    data: {
      owner: 'bob',
      name,
      criteria: [{ name: 'a', weight: 1, description: '' }],
      description: '',
      scale_min: 0,
      scale_max: 1,
      visibility,
      version,
      digest: 'sha256:0',
    },
  })
  for (const [name, visibility] of [
    ['open', 'public'],
    ['shut', 'private'],
  ] as const)
    await at.store.transaction(tx =>
      at.store.append(tx, {
        stream: `rubric-bob/${name}`,
        expectedVersion: 0,
        events: [rubric(name, visibility, 1)],
        stamp: {
          actor: { type: 'user', id: 'bob', via: 'test' },
          requestId: 'test',
          now: at.now(),
        },
      }),
    )
  const refer = async (ref: string, username: string) =>
    at.submit({ rubrics: [{ ref }] }, { username }).then(
      () => 'admitted',
      (error: Refusal) => error.detail,
    )
  t.is(await refer('bob/open@1', 'ada'), 'admitted')
  t.is(await refer('bob/open', 'ada'), 'admitted')
  t.is(await refer('bob/shut@1', 'bob'), 'admitted')
  for (const ref of ['bob/open@2', 'bob/shut@1', 'bob/none', 'nonsense'])
    t.is(await refer(ref, 'ada'), `No such rubric: ${ref}`)
})
