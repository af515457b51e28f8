import test from 'ava'
import { startForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { createRun } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'

const path = '/api/rubrics/admin/helpful'
const rubric = { name: 'helpful', criteria: [{ name: 'a' }] }

test('fourteen events of 6 MB, which earlier versions accepted, block nobody, and a rebuild processes them', async t => {
  t.timeout(patient(300_000))
  const forge = await startForge(t)
  const { run_id } = await createRun(forge)
  // The old value and the new one of one hyperparameter.
  await forge.pool.query(
    `insert into write.event (event_id, stream, stream_version, type, schema_version, data, meta, occurred_at)
     select gen_random_uuid(), 'hparams-' || $1, nth, 'hparams.set', 1,
            jsonb_build_object('run_id', $1::text, 'added', '{}'::jsonb, 'changed', jsonb_build_array(jsonb_build_object(
              'key', 'notes', 'from', repeat(md5((nth - 1)::text), 100000), 'to', repeat(md5(nth::text), 100000)))),
            '{"actor": {"type": "system", "id": "t", "via": "t"}, "request_id": "r", "causation_id": null}', now()
       from generate_series(1, 14) nth`,
    [run_id],
  )
  t.is((await forge.call('PUT', path, { body: rubric })).status, 200)
  const isShown = async () => (await forge.call('GET', path)).status === 200
  await until('later decisions are visible', 120_000, isShown)
  t.like(await forge.call('GET', '/api/readyz'), {
    status: 200,
    body: { checks: { relay: { ok: true, halted: null }, projector: { ok: true } } },
  })

  t.is((await forge.call('POST', '/api/admin/projections/all/rebuild')).status, 200)
  type List = { rebuild: { state: string; error: string | null } }
  const rebuilt = await until('the rebuild has ended', 120_000, async () => {
    const { rebuild } = (await forge.call<List>('GET', '/api/admin/projections')).body
    return rebuild.state === 'running' ? null : rebuild
  })
  t.like(rebuilt, { state: 'succeeded', error: null })
  t.true(await isShown())
})
