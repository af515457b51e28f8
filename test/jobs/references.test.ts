import test from 'ava'
import { Refusal } from '../../platform/refusal.ts'
import { jobsWithExecutor } from './jobs-with-executor.ts'

test("a job's own number belongs to the project it was submitted to, where strangers cannot submit", async t => {
  const at = await jobsWithExecutor(t)
  t.is((await at.submit({}, { username: 'ada' })).short_id, 'of-ada-1')
  t.is((await at.submit({}, { username: 'ada' })).short_id, 'of-ada-2')
  const stranger = at.submit({}, { username: 'eve' }, 'of-ada')
  await t.throwsAsync(stranger, {
    instanceOf: Refusal,
    message: /^Project of-ada belongs to somebody else/,
  })
  const admin = await at.submit({}, { username: 'root', role: 'admin' }, 'of-ada')
  t.is(admin.short_id, 'of-ada-3')
})

test('referenced rubrics must exist, in that version, and be readable by the submitter', async t => {
  const at = await jobsWithExecutor(t)
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
