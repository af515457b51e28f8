import test from 'ava'
import { deleteCaptured } from '../../command-api/reflows/retain.ts'
import type { ReflowErased } from '../../schemas/reflows.ts'
import { runWithPairs } from '../annotations/queues.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { createReflow, fire, preview, rowsOf, secrets, startTalks, untilCaptured } from './talks.ts'

const shared = sharedForge()

test('traffic becomes a version, scrubbed, each request once and with its origin', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const talks = await startTalks(t, forge, 'captured')
  t.true(talks.capturing.capture)
  const source = { type: 'traffic', deployment_id: talks.deployment_id }
  const reflow_id = await createReflow(forge, { source, target_dataset: 'admin/captured' })
  t.is((await fire(forge, reflow_id)).state, 'empty')

  // A token without capture leaves nothing.
  t.is((await talks.send(forge.url, talks.token, 'not captured')).status, 200)
  await talks.talk(`My card is ${secrets.card}`, { user: 'customer-1' })
  await talks.talk('Please call +49 30 1234567', { stream: true, user: 'customer-2' })
  await talks.talk('Please call +49 30 1234567', { stream: true, user: 'customer-2' })
  await untilCaptured(forge, reflow_id, 3)

  const { counts, rows } = await preview(forge, reflow_id)
  t.like(counts, { seen: 3, taken: 2, duplicates: 1, unreadable: 0 })
  t.deepEqual(counts.scrubbed, { email: 2, phone: 2, card: 2, ip: 0, key: 2 })
  t.deepEqual(rows[0]?.scrubbed, ['email', 'card', 'key'])

  const fired = await fire(forge, reflow_id, { window: 'monday' })
  t.like(fired, { state: 'succeeded', ref: 'admin/captured@1', created: true, window: 'monday' })
  t.like(fired.counts, { taken: 2 })
  const made = await rowsOf(forge, 'admin/captured@1')
  t.deepEqual(
    made.map(({ messages }) => messages.map(({ content }) => content)),
    [
      ['My card is [card]', 'You said: My card is [card]. Write to [email], with [key]'],
      ['Please call [phone]', 'You said: Please call [phone]. Write to [email], with [key]'],
    ],
  )
  for (const { reflow } of made)
    t.like(reflow, { deployment_id: talks.deployment_id, token_id: talks.capturing.token_id })
  t.is(new Set(made.map(({ reflow }) => reflow.source)).size, 2)
  for (const secret of Object.values(secrets)) t.false(JSON.stringify(made).includes(secret))

  // The same window again is the same firing; without new requests another one makes nothing.
  const again = await forge.call('POST', `/api/reflows/${reflow_id}/run`, {
    body: { window: 'monday' },
  })
  t.like(again.body, { firing: fired.firing, state: 'succeeded', created: false })
  t.like(await fire(forge, reflow_id, { window: 'tuesday' }), { state: 'empty', ref: null })

  const lineage = await forge.call<{ edges: object[] }>(
    'GET',
    `/api/lineage/datasets/admin/captured/versions/1`,
  )
  t.deepEqual(lineage.body.edges, [
    {
      kind: 'reflow',
      from: `deployment:${talks.deployment_id}`,
      to: 'dataset:admin/captured@1',
    },
  ])
  const forward = await forge.call<{ edges: object[] }>(
    'GET',
    `/api/lineage/deployments/${talks.deployment_id}`,
  )
  t.deepEqual(forward.body.edges, lineage.body.edges)
})

test('strangers see nothing of captured requests and reflows, and may take nothing', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const talks = await startTalks(t, forge, 'private-talks')
  const source = { type: 'traffic', deployment_id: talks.deployment_id }
  const reflow_id = await createReflow(forge, { source, target_dataset: 'admin/private' })
  const stranger = await signedIn(forge, 'stranger')
  const member = await signedIn(forge, 'member')
  await forge.call('PUT', '/api/projects/serving/members/member', { body: { role: 'member' } })
  const as = async (token: string, method: string, path: string, body?: object) =>
    forge.call<{ detail: string }>(method, path, { token, ...(body && { body }) })

  const path = `/api/reflows/${reflow_id}`
  for (const token of [stranger, member]) {
    for (const [method, at] of [
      ['GET', path],
      ['POST', `${path}/preview`],
      ['DELETE', path],
    ] as const)
      t.is((await as(token, method, at)).status, 404, `${method} ${at}`)
    t.is((await as(token, 'POST', `${path}/run`, {})).status, 404)
    t.deepEqual((await as(token, 'GET', '/api/reflows')).body, [])
  }
  const mine = (owner: string) => ({ name: 'x', source, target_dataset: `${owner}/x` })
  const missing = { ...mine('stranger'), source: { ...source, deployment_id: 'dep_none' } }
  const hidden = await as(stranger, 'POST', '/api/reflows', mine('stranger'))
  t.is(hidden.status, 404)
  t.is(
    hidden.body.detail.replace(talks.deployment_id, 'dep_none'),
    (await as(stranger, 'POST', '/api/reflows', missing)).body.detail,
  )
  t.is((await as(member, 'POST', '/api/reflows', mine('member'))).status, 403)
  const erase = { deployment_id: talks.deployment_id, user: 'customer-1' }
  t.is((await as(stranger, 'POST', '/api/reflows/erase', erase)).status, 404)
  t.is((await as(member, 'POST', '/api/reflows/erase', erase)).status, 403)
  const faults = [
    { source: { type: 'traffic' } },
    { source: { ...source, run_id: 'demo-1' } },
    { source, filter: 'owner:ada' },
    { source, sample_rate: 0 },
    { source, rubric: { ref: 'nobody/none@1', min_score: 1 } },
  ]
  for (const more of faults)
    t.is(
      (await forge.call('POST', '/api/reflows', { body: { ...mine('admin'), ...more } })).status,
      422,
    )
  const enabled = await forge.call('PATCH', talks.path, { body: { capture: { enabled: true } } })
  t.like(enabled, { status: 400, body: { code: 'deployment.capture' } })
  t.like((await forge.call('GET', talks.path)).body, {
    capture: { enabled: true, sample_rate: 1, retention_days: 7 },
  })
})

test('an erased person is in no later version, and the earlier ones are named', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const talks = await startTalks(t, forge, 'erasing')
  const source = { type: 'traffic', deployment_id: talks.deployment_id }
  const target = { source, target_dataset: 'admin/erasing' }
  const reflow_id = await createReflow(forge, { ...target, take: 'all' })
  for (const user of ['one', 'two']) await talks.talk(`I am ${user}`, { user })
  await untilCaptured(forge, reflow_id, 2)
  t.like(await fire(forge, reflow_id), { ref: 'admin/erasing@1' })
  const same = await fire(forge, reflow_id)
  t.like(same, { ref: 'admin/erasing@1', created: false, reason: null })

  const { body } = await forge.call<ReflowErased>('POST', '/api/reflows/erase', {
    body: { deployment_id: talks.deployment_id, user: 'one' },
  })
  t.like(body, { deleted: 1, versions: ['admin/erasing@1'], models: [], runs: [] })
  t.like(await fire(forge, reflow_id), { ref: 'admin/erasing@2', created: true })
  const rows = await rowsOf(forge, 'admin/erasing@2')
  t.deepEqual(
    rows.map(({ messages }) => messages[0]?.content),
    ['I am two'],
  )
  // What began before the erasure and arrives after it is left out as well.
  await talks.talk('I am one again', { user: 'one' })
  await untilCaptured(forge, reflow_id, 2)
  await forge.pool.query(
    `update write.captured_request set started_at = started_at - interval '1 hour'
      where deployment_id = $1`,
    [talks.deployment_id],
  )
  t.like((await preview(forge, reflow_id)).counts, { seen: 2, erased: 1, taken: 1 })
  const audit = await forge.pool.query(
    `select data::text as text from write.event where type = 'reflow.erased'`,
  )
  t.false(audit.rows.some(({ text }) => text.includes('"one"')))
})

test('nothing that was captured can be read from the database', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const talks = await startTalks(t, forge, 'sealed')
  const source = { type: 'traffic', deployment_id: talks.deployment_id }
  const reflow_id = await createReflow(forge, { source, target_dataset: 'admin/sealed' })
  await talks.talk('a very private question', { user: 'someone-private' })
  await untilCaptured(forge, reflow_id, 1)
  const { rows } = await forge.pool.query<{ text: string }>(
    'select c::text as text from write.captured_request c where deployment_id = $1',
    [talks.deployment_id],
  )
  t.is(rows.length, 1)
  for (const text of ['private', secrets.email, secrets.key]) t.false(rows[0]?.text.includes(text))
  await forge.pool.query(
    `update write.captured_request set started_at = now() - interval '8 days' where deployment_id = $1`,
    [talks.deployment_id],
  )
  const now = { now: new Date(), days: 7, pool: forge.pool }
  await deleteCaptured(now, AbortSignal.timeout(30_000))
  t.is((await preview(forge, reflow_id)).captured?.kept, 0)
})

test('samples of a run are taken by the scores that judges have given', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const run = await runWithPairs(forge, { project: 'serving', prompts: 3 })
  await forge.call('PUT', '/api/rubrics/admin/taken', {
    body: { name: 'taken', criteria: [{ name: 'clear' }] },
  })
  const source = { type: 'samples', run_id: run.run_id }
  const body = { source, target_dataset: 'admin/judged', filter: 'reward>0.5' }
  const first = await createReflow(forge, body)
  const { rows, counts } = await preview(forge, first)
  t.like(counts, { seen: 6, filtered: 3, taken: 3 })
  await forge.call('POST', '/api/rubrics/admin/taken/scores', {
    body: {
      ...{ version: 1, judge: 'somebody' },
      scores: rows.map(({ sample }, nth) => ({ sample, score: nth / 2 })),
    },
  })
  const rubric = { ref: 'admin/taken@1', min_score: 0.5 }
  const judged = await createReflow(forge, { ...body, rubric })
  t.like((await preview(forge, judged)).counts, { taken: 2, unscored: 1 })
  const fired = await fire(forge, judged)
  t.like(fired, { ref: 'admin/judged@1', created: true })
  const made = await rowsOf(forge, 'admin/judged@1')
  t.true(made.every(({ reflow }) => reflow.source.startsWith(`sample:${run.run_id}/`)))
  await forge.call('PUT', '/api/rubrics/admin/taken', {
    body: { name: 'taken', criteria: [{ name: 'short' }] },
  })
  t.like(await fire(forge, judged), { state: 'failed', ref: null })
})
