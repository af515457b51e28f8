import test from 'ava'
import { endJob, make, prepared, runJob, specFor, submit, untilLive } from '../plans/steps.ts'
import { startForge } from '../servers/forge.ts'
import { withoutExecutor } from '../usage/jobs-at-times.ts'
import { axeFinds, looksRight, openPage, signIn } from './browse.ts'

test('a plan is read, accepted with its changes, followed to its sweep and cancelled', async t => {
  const forge = await startForge(t, withoutExecutor)
  await prepared(forge)
  const spec = await specFor(forge, 'planned')
  const other = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: { ...spec, spec: { ...spec.spec, params: { epochs: 3 } } },
  })
  t.is(other.status, 200, JSON.stringify(other.body))
  const { body } = await make(forge, {
    name: 'search and serve',
    stages: [
      {
        name: 'search',
        spec,
        sweep: {
          ...{ method: 'grid', params: { lr: { values: [0.1, 0.2, 0.3] } } },
          ...{ max_parallel: 2, metric: { key: 'loss', goal: 'min' } },
        },
      },
      { name: 'longer', spec, init_from_stage: 'search' },
    ],
  })
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 8, executor: 'local', price_per_gpu_hour: '4' },
  })
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/plans`)
  await signIn(page)
  await page.getByRole('link', { name: 'search and serve' }).click()
  await page.getByRole('heading', { name: 'search and serve' }).waitFor()
  await page.getByText('starts from the newest checkpoint of search').waitFor()
  await page
    .getByRole('row', { name: /spec\.params\.epochs/ })
    .first()
    .waitFor()
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Submit', exact: true }).click()
  await page
    .getByRole('row', { name: /price spare/ })
    .first()
    .waitFor()
  await looksRight(t, page, 'console-plan')
  await page.getByRole('button', { name: 'Accept the changes and submit' }).click()
  await page.getByText('under way').waitFor()
  const [first = ''] = await untilLive(forge, body.plan_id, 2)
  await endJob(forge, await runJob(forge, first, { loss: [3, 1] }))
  await page.getByText('1 of 3 runs have ended').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('link', { name: 'Open its runs in the workspace' }).click()
  await page.getByText('job-2', { exact: true }).first().waitFor()
  t.is(await page.getByText('job', { exact: true }).count(), 0, 'the other run is left out')
  await page.goBack()
  await page.getByRole('button', { name: 'Cancel the plan' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the plan' }).click()
  await page.getByText('cancelled').first().waitFor()
  t.deepEqual(
    faults.filter(fault => !fault.includes('409')),
    [],
  )
  t.is((await submit(forge, body.plan_id)).status, 409)
})
