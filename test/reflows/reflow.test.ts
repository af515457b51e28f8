import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
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
