import test from 'ava'
import { deleteItemsOfRun } from '../../command-api/annotations/rows.ts'
import { cohenKappa, intervalAlpha, ordinalAlpha } from '../../events/calculations/agreement.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import type { AnnotationAgreement, AnnotationDetail } from '../../schemas/annotations.ts'
import { push, untilValidated } from '../datasets/pushing.ts'
import { commandLine } from '../servers/command-line.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { answer, claim, createQueue, runWithPairs } from './queues.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

const join = async (
  forge: Awaited<ReturnType<typeof shared>>,
  project: string,
  username: string,
  role = 'member',
) => {
  const token = await signedIn(forge, username)
  const { status } = await forge.call('PUT', `/api/projects/${project}/members/${username}`, {
    body: { role },
  })
  if (status !== 200) throw new Error(`${username} could not join`)
  return token
}

test('two people judge pairs of a run; the queue shows progress, agreement and history, and becomes a dataset', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const { run_id } = await runWithPairs(forge, { project: 'pairs', prompts: 4 })
  const [ann, ben] = [await join(forge, 'pairs', 'ann'), await join(forge, 'pairs', 'ben')]
  const source = { type: 'samples', run_id, step: 10 } as const
  const made = await createQueue(forge, { project: 'pairs', kind: 'pairwise', source, overlap: 2 })
  t.like(made.body, { items: 4, left_out: 0 }, JSON.stringify(made.body))
  const { queue_id } = made.body
  const path = `/api/annotations/${queue_id}`

  const first = await claim(forge, queue_id, ann)
  t.like(first.body, { item: { item: 1 }, draft: null, last: null })
  t.deepEqual((await claim(forge, queue_id, ann)).body, first.body, 'the same claim again')
  t.deepEqual(first.body.item?.prompt, [{ role: 'user', content: 'Question 0?' }])
  t.deepEqual(first.body.item?.responses.toSorted(), ['Bad answer 0.', 'Good answer 0.'])

  // Ann prefers the good answers, and Ben as well but for the last.
  const better = (responses: string[] = []) => (responses[0]?.startsWith('Good') ? 'a' : 'b')
  for (const [token, differs] of [
    [ann, false],
    [ben, true],
  ] as const)
    for (const nth of [1, 2, 3, 4]) {
      const { body } = await claim(forge, queue_id, token)
      t.is(body.item?.item, nth)
      const right = better(body.item?.responses)
      const choice = differs && nth === 4 ? 'tie' : right
      const given = { token, item: nth, answer: { choice } }
      t.like((await answer(forge, queue_id, given)).body, { changed: true })
      t.like((await answer(forge, queue_id, given)).body, { changed: false })
      const other = await answer(forge, queue_id, { ...given, answer: { choice: 'tie' } })
      if (choice !== 'tie') t.is(other.body.code, 'annotation.already_answered')
    }
  t.like((await claim(forge, queue_id, ann)).body, { item: null, held: 0, last: { item: 4 } })

  const detail = await forge.call<AnnotationDetail>('GET', path, { token: ben })
  t.like(detail.body, { items: 4, completed: 4, answers: 8, skips: 0, may: 'annotate' })
  t.deepEqual(detail.body.people, [
    { username: 'ann', answers: 4, skips: 0 },
    { username: 'ben', answers: 4, skips: 0 },
  ])
  const { body: agreement } = await forge.call<AnnotationAgreement>('GET', `${path}/agreement`, {
    token: ben,
  })
  t.is(agreement.measures[0]?.equal, 0.75)
  t.like(agreement.measures[0]?.kappa[0], { people: ['ann', 'ben'], items: 4 })
  t.like(agreement.judge, { items: 4, equal: 1 }, 'one vote and a tie are a majority')

  const undo = (body: object) =>
    forge.call<{ changed: boolean; code: string }>('POST', `${path}/undo`, { token: ben, body })
  const { last } = (await claim(forge, queue_id, ben)).body
  if (!last) throw new Error('nothing was answered')
  t.is((await undo({ ...last, item: 3 })).body.code, 'annotation.not_last')
  t.is((await undo({ item: 4 })).status, 422, 'which answer?')
  t.like((await undo(last)).body, { changed: true })
  t.like((await undo(last)).body, { changed: false })
  const tie = { item: { item: 4 }, draft: { choice: 'tie' } }
  t.like((await claim(forge, queue_id, ben)).body, tie)
  const again = await answer(forge, queue_id, { token: ben, item: 4, answer: { choice: 'a' } })
  t.is((await undo(last)).body.code, 'annotation.not_last', 'a repeat undoes no later answer')
  const { decided_at } = again.body
  t.like((await undo({ item: 4, decided_at })).body, { changed: true })
  t.like((await claim(forge, queue_id, ben)).body, { item: { item: 4 }, draft: { choice: 'a' } })
  t.like((await forge.call('GET', path, { token: ben })).body, { completed: 3, answers: 7 })
  const skipped = await forge.call('POST', `${path}/skips`, { token: ben, body: { item: 4 } })
  t.like(skipped.body, { changed: true })
  t.like((await claim(forge, queue_id, ben)).body, { item: null, held: 0, last: { item: 4 } })
  type Act = { what: string; username: string; sources: string[] }
  const history = (token: string) => forge.call<Act[]>('GET', `${path}/items/4`, { token })
  const seenBy = async (token: string) =>
    (await history(token)).body.map(({ username, what }) => `${username} ${what}`)
  const countedFor = async (token: string) => (await history(token)).headers.get('x-total-count')
  const ofBen = ['skipped', 'undone', 'answered', 'undone', 'answered'].map(what => `ben ${what}`)
  const all = [...ofBen, 'ann answered']
  await until('all is recorded', 20_000, async () => (await seenBy(ann)).length === all.length)
  t.deepEqual(await seenBy(ann), all)
  t.deepEqual(await seenBy(ben), ofBen, 'the answers of others lead nobody: he has none now')
  t.deepEqual([await countedFor(ann), await countedFor(ben)], ['6', '5'])
  const setRole = (role: string) =>
    forge.call('PUT', '/api/projects/pairs/members/ben', { body: { role } })
  await setRole('maintainer')
  await until(
    'a maintainer sees all',
    20_000,
    async () => (await seenBy(ben)).length === all.length,
  )
  await setRole('member')
  await until('a member does not', 20_000, async () => (await seenBy(ben)).length < all.length)
  const [newest] = (await history(ann)).body
  t.regex(newest?.sources[0] ?? '', new RegExp(`^sample:${run_id}/10-0-`))

  const exported = (token = forge.token) =>
    forge.call<{ ref: string; rows: number; created: boolean; code: string }>(
      'POST',
      `${path}/export`,
      { token, body: { dataset: 'admin/preferences' } },
    )
  t.is((await exported(ben)).status, 403)
  t.like((await exported()).body, { ref: 'admin/preferences@1', rows: 4, created: true })
  t.like((await exported()).body, { ref: 'admin/preferences@1', created: false })
  const version = await untilValidated(forge, 'admin/preferences')
  t.like(version, {
    ...{ state: 'ready', kind: 'preference', rows: 4, errors: [] },
    source: { kind: 'annotation' },
  })
  const rows = await forge.call<{ rows: { data: Record<string, unknown> }[] }>(
    'GET',
    '/api/datasets/admin/preferences/versions/1/rows',
  )
  t.like(rows.body.rows[0]?.data, {
    prompt: [{ role: 'user', content: 'Question 0?' }],
    chosen: [{ role: 'assistant', content: 'Good answer 0.' }],
    annotation: { queue_id, item: 1, people: ['ann', 'ben'] },
  })
  t.like((await forge.call<AnnotationDetail>('GET', path)).body, {
    exports: [{ ref: 'admin/preferences@1', rows: 4 }],
  })
})

test('an answer after the claim has ended is refused and comes back as a draft', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { run_id } = await runWithPairs(forge, { project: 'late', prompts: 2 })
  const [cat, dan] = [await join(forge, 'late', 'cat'), await join(forge, 'late', 'dan')]
  const source = { type: 'samples', run_id } as const
  const { body } = await createQueue(forge, { project: 'late', kind: 'edit', source, limit: 2 })
  t.like(body, { items: 2, left_out: 1 })
  const { queue_id } = body
  const endLeases = () =>
    forge.pool.query(
      `update write.annotation_claim set expires_at = now() - interval '1 second'
        where queue_id = $1 and state = 'claimed'`,
      [queue_id],
    )
  t.is((await claim(forge, queue_id, cat)).body.item?.item, 1)
  const given = { token: cat, item: 1, answer: { text: 'Corrected too late.' } }
  await endLeases()
  const late = await answer(forge, queue_id, given)
  t.is(late.status, 409)
  t.is(late.body.code, 'annotation.lease_ended')
  const again = await claim(forge, queue_id, cat)
  t.like(again.body, { item: { item: 1 }, draft: { text: 'Corrected too late.' } })
  await endLeases()
  t.is((await claim(forge, queue_id, dan)).body.item?.item, 1, 'the item is free for others')
  t.is((await claim(forge, queue_id, cat)).body.item?.item, 2)
  t.is((await answer(forge, queue_id, { ...given, token: dan })).status, 200)
  const none = await answer(forge, queue_id, { token: dan, item: 2, answer: { text: 'x' } })
  t.is(none.body.code, 'annotation.not_claimed')
  const path = `/api/annotations/${queue_id}`
  t.like((await forge.call('POST', `${path}/close`)).body, { state: 'closed', changed: true })
  t.like((await forge.call('POST', `${path}/close`)).body, { changed: false })
  t.is((await claim(forge, queue_id, cat)).body.code, 'annotation.closed')
  const closed = await answer(forge, queue_id, { token: cat, item: 2, answer: { text: 'y' } })
  t.is(closed.body.code, 'annotation.closed')
  t.like((await forge.call('POST', `${path}/reopen`)).body, { state: 'open', changed: true })
  t.is((await claim(forge, queue_id, cat)).status, 200)

  await forge.call('POST', `/api/runs/${run_id}/stop`, { body: { force: true } })
  t.is((await forge.call('DELETE', `/api/runs/${run_id}`)).status, 200)
  t.is((await claim(forge, queue_id, cat)).body.code, 'annotation.source_deleted')
  const exported = await forge.call('POST', `${path}/export`, { body: { dataset: 'admin/late' } })
  t.is(exported.body.code, 'annotation.source_deleted')
  t.is((await forge.call('POST', `/api/runs/${run_id}/restore`)).status, 200)
  t.is((await claim(forge, queue_id, cat)).status, 200)
  await inTransaction(forge.pool, tx => deleteItemsOfRun(tx, run_id))
  t.like((await claim(forge, queue_id, cat)).body, { item: null, held: 0 })
})

test('rows of a dataset are scored by a rubric, and only people who may use the dataset see them', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  await runWithPairs(forge, { project: 'rows', prompts: 1 })
  const eve = await join(forge, 'rows', 'eve')
  const chat = (text: string) =>
    `${JSON.stringify({
      messages: [
        { role: 'user', content: `Say ${text}` },
        { role: 'assistant', content: text },
      ],
    })}\n`
  await push(forge, 'admin/talks', { 'train.jsonl': chat('one') + chat('two') })
  await untilValidated(forge, 'admin/talks')
  const rubric = { name: 'short', criteria: [{ name: 'clear' }, { name: 'right', weight: 3 }] }
  await forge.call('PUT', '/api/rubrics/admin/short', { body: { ...rubric, scale_max: 4 } })
  const source = { type: 'dataset', ref: 'admin/talks@1' } as const
  const input = { project: 'rows', kind: 'rubric', source, rubric: 'admin/short@1' } as const
  const atField = async (more: object, token?: string) => {
    const { status, body } = await createQueue(forge, { ...input, ...more }, token)
    return status === 422 && typeof body.detail !== 'string'
      ? body.detail[0]?.loc.join('.')
      : status
  }
  t.is(await atField({ rubric: null }), 'body.rubric')
  t.is(await atField({ rubric: 'admin/short@2' }), 'body.rubric')
  t.is(await atField({ kind: 'pairwise', rubric: null }), 'body.source.ref')
  t.is(await atField({ source: { type: 'samples' } }), 'body.source.run_id')
  t.is(await atField({ source: { ...source, run_id: 'x' } }), 'body.source.run_id')
  t.is(await atField({ source: { ...source, ref: 'admin/none@1' } }), 404)
  t.is(await atField({ project: 'no-such-project' }), 404)
  t.is(await atField({}, eve), 'body.rubric', 'a private rubric looks missing')
  const made = await createQueue(forge, input)
  t.like(made.body, { items: 2 }, JSON.stringify(made.body))
  const { queue_id } = made.body
  const hidden = await claim(forge, queue_id, eve)
  t.is(hidden.status, 403)
  t.is(hidden.body.code, 'annotation.source_forbidden')
  const grant = { body: { see: true, use: true } }
  await forge.call('PUT', '/api/datasets/admin/talks/grants/eve', grant)
  const { body } = await claim(forge, queue_id, eve)
  t.deepEqual(body.item?.responses, ['one'])
  t.deepEqual(body.item?.sources, ['row:admin/talks@1/train/0'])
  const score = (scores: object) =>
    answer(forge, queue_id, { token: eve, item: 1, answer: { scores } })
  t.is((await score({ clear: 4 })).status, 422)
  t.is((await score({ clear: 4, right: 5 })).status, 422)
  t.is((await score({ clear: 4, right: 2, other: 1 })).status, 422)
  t.is((await score({ clear: 4, right: 2 })).status, 200)
  const exported = await forge.call('POST', `/api/annotations/${queue_id}/export`, {
    body: { dataset: 'admin/scored' },
  })
  t.like(exported.body, { rows: 1 }, JSON.stringify(exported.body))
  t.like(await untilValidated(forge, 'admin/scored'), {
    state: 'ready',
    parents: ['admin/talks@1'],
  })
  const rows = await forge.call<{ rows: { data: object }[] }>(
    'GET',
    '/api/datasets/admin/scored/versions/1/rows',
  )
  t.like(rows.body.rows[0]?.data, { score: 2.5, scores: { clear: 4, right: 2 } })
})

test('people are compared with a deployment that judged the same samples by the rubric of the queue', async t => {
  t.timeout(patient(90_000))
  const forge = await shared()
  const { run_id } = await runWithPairs(forge, { project: 'judged-too', prompts: 2 })
  const lea = await join(forge, 'judged-too', 'lea')
  const rubric = { name: 'judged-too', criteria: [{ name: 'clear' }, { name: 'kind' }] }
  const path = '/api/rubrics/admin/judged-too'
  await forge.call('PUT', path, { body: { ...rubric, scale_max: 4, visibility: 'public' } })
  const source = { type: 'samples', run_id } as const
  const made = await createQueue(forge, {
    ...{ project: 'judged-too', kind: 'rubric', source, rubric: 'admin/judged-too@1', overlap: 2 },
  })
  const { queue_id } = made.body
  const agreement = async (token: string) => {
    const { body } = await forge.call<AnnotationAgreement>(
      'GET',
      `/api/annotations/${queue_id}/agreement`,
      { token },
    )
    return body
  }
  await until(
    'the queue can be read',
    20_000,
    async () => (await agreement(lea)).judges !== undefined,
  )
  t.deepEqual((await agreement(lea)).judges, [], 'nobody has judged yet')
  // There is no such deployment, so it is hidden.
  await forge.pool.query(
    `with j as (insert into write.judging (judging_id, run_id, step, rubric_owner, rubric, version, deployment_id,
        revision_id, username, state, created_at, ended_at)
       values ('jdg_too', $1, 10, 'admin', 'judged-too', 1, 'dep_1', 'rev_1', 'admin', 'succeeded', now(), now())),
     s as (select nth, 'digest ' || nth as sample from generate_series(0, 3) nth),
     o as (insert into write.judgement (judging_id, sample_id, sample, outcome)
       select 'jdg_too', '10-0-' || nth, sample, 'scored' from s)
     insert into write.rubric_score (owner, name, version, judge, sample, score, criteria, scored_at)
     select 'admin', 'judged-too', 1, 'dep_1@rev_1', sample, nth, jsonb_build_object('clear', nth + 0.2), now() from s`,
    [run_id],
  )
  t.deepEqual((await agreement(lea)).judges, [], 'nobody has answered yet')
  for (const [token, more] of [
    [lea, 0],
    [forge.token, 1],
  ] as const)
    for (const nth of [0, 1, 2, 3]) {
      const { body } = await claim(forge, queue_id, token)
      const scores = { clear: nth === 3 ? 0 : nth + more, kind: 4 }
      const given = { token, item: body.item?.item, answer: { scores } }
      t.is((await answer(forge, queue_id, given)).status, 200)
    }
  const [found, ...others] = await until('the answers can be read', 20_000, async () => {
    const { judges, answers } = await agreement(lea)
    return answers === 8 && judges
  })
  t.deepEqual(others, [])
  const [clear, kind] = found?.measures ?? []
  // The means of people are 0.5, 1.5, 2.5 and 0; their nearest points 1, 2, 3 and 0. The nearest points of the judge are 0, 1, 2 and 3.
  t.like(found, { judge: null })
  t.like(clear, { name: 'clear', items: 4, equal: 0 })
  t.is(
    clear?.kappa,
    cohenKappa([
      [1, 0],
      [2, 1],
      [3, 2],
      [0, 3],
    ]),
  )
  const exact = [
    [0.5, 0.2],
    [1.5, 1.2],
    [2.5, 2.2],
    [0, 3.2],
  ]
  t.is(clear?.alpha.interval, intervalAlpha(exact))
  t.is(clear?.alpha.ordinal, ordinalAlpha(exact))
  t.like(kind, { name: 'kind', items: 0, equal: null, kappa: null }, 'the judge said nothing of it')
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const shown = await run(['annotate', 'agreement', queue_id])
  t.regex(shown.stdout, /JUDGE +OF +ITEMS +EQUAL +KAPPA/, shown.stderr)
  t.regex(shown.stdout, /clear +4 +0\.000/)

  await forge.call('PUT', path, { body: { ...rubric, scale_max: 4, visibility: 'private' } })
  t.deepEqual((await agreement(lea)).judges, [], 'the rubric is hidden')
})

test('a queue looks missing to strangers, and viewers may only look', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { run_id } = await runWithPairs(forge, { project: 'hidden', prompts: 1 })
  const fay = await join(forge, 'hidden', 'fay', 'viewer')
  const gus = await signedIn(forge, 'gus')
  const source = { type: 'samples', run_id } as const
  const input = { project: 'hidden', kind: 'pairwise', source } as const
  const { queue_id } = (await createQueue(forge, input)).body
  const path = `/api/annotations/${queue_id}`
  const statuses = (token: string, queue: string) =>
    Promise.all(
      [
        forge.call('GET', queue, { token }),
        forge.call('GET', `${queue}/agreement`, { token }),
        forge.call('GET', `${queue}/items/1`, { token }),
        forge.call('POST', `${queue}/claims`, { token }),
        forge.call('POST', `${queue}/close`, { token }),
        forge.call('POST', `${queue}/answers`, {
          ...{ token, body: { item: 1, answer: { choice: 'a' } } },
        }),
        forge.call('POST', `${queue}/export`, { token, body: { dataset: 'gus/x' } }),
      ].map(async call => (await call).status),
    )
  t.deepEqual(await statuses(gus, path), [404, 404, 404, 404, 404, 404, 404])
  t.deepEqual(await statuses(gus, '/api/annotations/anq_none'), [404, 404, 404, 404, 404, 404, 404])
  await until('fay reads the project', 30_000, async () => {
    const { status } = await forge.call('GET', path, { token: fay })
    return status === 200
  })
  t.deepEqual(await statuses(fay, path), [200, 200, 200, 403, 403, 403, 403])
  const listed = async (token: string) =>
    (await forge.call<{ queue_id: string }[]>('GET', '/api/annotations', { token })).body.length
  t.is(await listed(gus), 0)
  t.is(await listed(fay), 1)
  t.is((await createQueue(forge, input, gus)).status, 404)
  t.is((await createQueue(forge, input, fay)).status, 403)
  const other = await runWithPairs(forge, { project: 'hidden-too', prompts: 1 })
  const elsewhere = { ...source, run_id: other.run_id }
  t.is((await createQueue(forge, { ...input, source: elsewhere })).status, 422)
})
