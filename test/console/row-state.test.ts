import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, openSignedIn } from './browse.ts'

test('the row of a failed run says why on hover and on focus, and reads its page ahead', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge, 'sweep')
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 1 }] })
  await ingest(forge, run, 'logs', { stream: 'stderr', chunks: ['KeyError: 0'] })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 1, message: 'KeyError: 0' })
  const { page, faults } = await openSignedIn(t, forge)
  // A page at rest may read it even before.
  const paths: string[] = []
  page.on('request', request => paths.push(new URL(request.url()).pathname))
  await page.goto(`${forge.url}/projects/sweep`)
  const row = page.getByRole('row').filter({ has: page.getByLabel(`Show ${run.short_id}`) })
  await row.getByText('failed').hover()
  await page.getByRole('tooltip').getByText('KeyError: 0').waitFor()
  await page.mouse.move(0, 0)
  await page.getByRole('tooltip').waitFor({ state: 'hidden' })

  const link = row.getByRole('link')
  const read = page.waitForResponse(response => response.url().includes('/logs?'))
  await link.hover()
  await read
  t.true(paths.includes(`/api/runs/${run.short_id}`))
  await link.focus()
  await page.keyboard.press('Tab')
  await page.getByRole('tooltip').getByText('KeyError: 0').waitFor()
  t.deepEqual(await axeFinds(page), [])

  await page.goto(`${forge.url}/runs`)
  await page.getByRole('row').filter({ hasText: run.short_id }).getByText('failed').hover()
  await page.getByRole('tooltip').getByText('KeyError: 0').waitFor()
  t.deepEqual(faults, [])
})
