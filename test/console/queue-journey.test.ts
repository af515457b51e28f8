import test from 'ava'
import type { Page } from 'playwright-core'
import { asExecutor } from '../servers/as-executor.ts'
import { startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { axeFinds, keepViews, openSignedIn } from './browse.ts'

type Queue = { paused: { reason: string | null } | null }

const firstJob = async (page: Page) =>
  String(await page.getByRole('table', { name: 'Queue' }).getByRole('row').nth(1).textContent())

test('an administrator pauses the queue with a reason, moves a job to its front and resumes', async t => {
  // Without an executor, so that jobs stay in the queue.
  const forge = await startForge(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  await forge.call('PUT', '/api/admin/profiles/local', {
    body: { series: 'local', gpus_per_node: 4, executor: 'local' },
  })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  // Jobs that need all GPUs: nobody knows when the next one starts.
  const spec = { resources: { gpus_per_node: 4 } }
  const submit = (name: string) =>
    forge.call<{ run_id: string }>('POST', '/api/jobs', {
      body: { api: 'forge/v2', metadata: { name, project: 'demo' }, lock, spec },
    })
  await submit('early')
  const { body: late } = await submit('late')
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/queue`)
  await until('both wait in order', 20_000, async () => (await firstJob(page)).includes('early'))

  await page.getByRole('button', { name: 'Pause the queue' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('new disks <b>today</b>')
  await page.keyboard.press('Enter')
  await page.getByText('The queue is paused: nothing new starts. new disks <b>today</b>').waitFor()
  const { body: queue } = await forge.call<Queue>('GET', '/api/queue')
  t.is(queue.paused?.reason, 'new disks <b>today</b>')

  await page.getByRole('button', { name: 'Priority of demo-2: 0' }).click()
  await dialog.getByLabel('Priority').fill('50')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Priority of demo-2: 50' }).waitFor()
  await until('it is first', 20_000, async () => (await firstJob(page)).includes('late'))
  await page.getByRole('button', { name: 'Why?' }).last().click()
  await dialog.getByText(/jobs? (is|are) ahead/).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-queue')
  await page.setViewportSize({ width: 1280, height: 800 })

  await page.getByRole('button', { name: 'Resume the queue' }).click()
  await page.getByRole('button', { name: 'Pause the queue' }).waitFor()
  t.is((await forge.call<Queue>('GET', '/api/queue')).body.paused, null)

  // A job that holds GPUs is drawn, even if it is read after the jobs that wait.
  await asExecutor(forge.pool).schedule(late.run_id, [])
  let show = () => {}
  const isShown = new Promise<void>(resolve => {
    show = resolve
  })
  await page.route(
    url => url.pathname === '/api/jobs',
    async route => {
      await isShown
      await route.continue()
    },
  )
  await page.reload()
  await page.getByText('These GPUs are idle.').waitFor()
  show()
  const block = page.getByRole('img').getByText(/^demo-2 ·/)
  await block.waitFor()
  t.true(((await block.boundingBox())?.x ?? 0) > 100)
  t.deepEqual(faults, [])
})
