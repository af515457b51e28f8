import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { axeFinds, fits, keepViews, openSignedIn } from './browse.ts'

type Job = { state: string; short_id: string }

test('a job of somebody else is read, approved and seen running; rules are set in the administration', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/admin/approval-rules`)
  await page.getByText('Nothing waits for approval.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('everything')
  await page.getByLabel('When').selectOption('cost')
  await page.getByLabel('At least').fill('0')
  await page.getByRole('button', { name: 'Set rule' }).click()
  await page.getByRole('cell', { name: 'everything' }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await fits(page)
  const grace = await signedIn(forge, 'grace')
  const lock = (await forge.call<object>('GET', '/api/recipes/digits/1.0.0/lock')).body
  const { body: job } = await forge.call<Job & { run_id: string }>('POST', '/api/jobs', {
    token: grace,
    body: { api: 'forge/v2', metadata: { name: 'long', project: 'demo' }, lock },
  })
  t.is(job.state, 'held')
  await page.goto(forge.url)
  await page.getByRole('heading', { name: 'Waiting for your approval' }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('link', { name: `job ${job.short_id}`, exact: true }).click()
  await page.getByRole('heading', { name: `job ${job.short_id}` }).waitFor()
  await page.getByRole('cell', { name: 'recipe_handshake' }).waitFor()
  await page.getByText('"name": "long"').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-approval')
  await fits(page)
  await page.getByLabel('Comment').fill('go ahead')
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('approved go ahead').waitFor()
  await page.getByRole('link', { name: 'The run' }).click()
  await until('the job runs', 120_000, async () => {
    const { body } = await forge.call<Job>('GET', `/api/jobs/${job.run_id}`)
    if (body.state === 'failed') throw new Error('it failed')
    return body.state === 'running' || body.state === 'succeeded'
  })
  await page
    .getByText(/^(running|succeeded)$/)
    .first()
    .waitFor()
  await page.goto(`${forge.url}/approvals`)
  await page.getByText('Nothing waits for you.').waitFor()
  await page.getByLabel('Show').selectOption('all')
  await page.getByRole('cell', { name: 'approved' }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await fits(page)
  await page.getByRole('button', { name: 'Request a higher quota' }).click()
  await page.getByRole('dialog').getByLabel('GPUs at once').fill('64')
  await page.getByRole('dialog').getByLabel('Until').fill('2030-01-01')
  await page.getByRole('dialog').getByLabel('Reason').fill('a paper')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('a raise lasts a year at most').waitFor()
  t.deepEqual(
    faults.filter(fault => !/422/.test(String(fault))),
    [],
  )
})
