import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'

type Forge = Awaited<ReturnType<typeof startForge>>

/** A round of 800 samples in two parts, with rewards from 0 to 0.999. */
async function reportRound(forge: Forge, run: ExternalRun): Promise<void> {
  for (const chunk_index of [0, 1])
    await ingest(forge, run, 'validation', {
      ...{ step: 5, chunk_index, total_chunks: 2 },
      samples: Array.from({ length: 400 }, (_, n) => ({
        user: `question ${chunk_index * 400 + n}`,
        assistant: 'an <b>answer</b>',
        reward: (chunk_index * 400 + n) / 800,
        extra: { reference: { answer: 'a good one' } },
      })),
    })
}

test('a person reads the samples of a round beyond the first, and shares a range of rewards', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await reportRound(forge, run)
  await ingest(forge, run, 'environment', { python: '3.13.1', packages: { torch: '2.9.1' } })
  await ingest(forge, run, 'environment/nodes', {
    nodes: [0, 1].map(rank => ({
      ...{ node: `node-${rank}`, node_rank: rank, nvlink: 'full' },
      gpus: Array.from({ length: 8 }, (_, index) => ({ index, name: 'NVIDIA H200' })),
    })),
  })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}/samples`)
  const options = page.getByRole('option').filter({ hasText: 'question' })
  const shown = (count: number) =>
    until(`${count} samples are shown`, 20_000, async () => (await options.count()) === count)
  await page.getByText('The first 500 of 800 are shown.').waitFor()
  await shown(500)
  await page.getByRole('button', { name: 'Load more' }).click()
  await shown(800)
  await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' })

  await page.getByLabel('Compare with …').selectOption('reference')
  await page.locator('del', { hasText: '"answer":' }).waitFor()
  t.is(await page.getByText('[object Object]').count(), 0)
  t.is(await page.locator('article b').count(), 0)

  await page
    .getByRole('group', { name: /^Rewards/ })
    .getByRole('button')
    .first()
    .click()
  await shown(40)
  await page.waitForURL(/reward=0\.\./)
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-run-samples')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.reload()
  await shown(40)
  await page.getByRole('button', { name: 'All rewards' }).click()
  await shown(500)

  await page.getByRole('link', { name: 'Environment' }).click()
  const nodes = page.getByRole('table', { name: 'Nodes' })
  await nodes.getByText('8 × NVIDIA H200').first().waitFor()
  await becomes(t, () => nodes.getByRole('row').count(), 3)
  await page.getByLabel('Filter').fill('torch')
  await page.getByRole('row').filter({ hasText: 'packages.torch' }).getByText('2.9.1').waitFor()
  await page.getByRole('row').filter({ hasText: 'python' }).waitFor({ state: 'detached' })
  await page.waitForURL(/q=torch/)
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-run-environment')
  await fits(page)
  t.deepEqual(faults, [])
})
