import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { openSignedIn } from './browse.ts'

/** Markup, a script address, a change of text direction, a terminal title, and a link that hides its address. */
const hostile =
  '<img src=x onerror="window.hit=1"><script>window.hit=1</script> \u202etxt.exe \u001b]0;title\u0007 \u001b]8;;https://evil.example\u0007here'

test('a sample, an artifact, a log line and a name full of tricks are text', async t => {
  const forge = await startForge(t)
  const { body: run } = await forge.call<ExternalRun>('POST', '/api/runs', {
    body: { project: 'demo', name: '<img src=x onerror="window.hit=1">' },
  })
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  const sample = { user: hostile, assistant: hostile, reward: 1, extra: { reference: hostile } }
  await ingest(forge, run, 'validation', { step: 1, samples: [sample] })
  const path = `s3://bucket/<img src=x onerror="window.hit=1"> \u202etxt.pt`
  const artifact = { kind: 'checkpoint', format: 'pt', path: 's3://bucket/x.pt', step: 1 }
  await ingest(forge, run, 'artifact', artifact)
  await until('its path is that of an earlier version', 10_000, async () => {
    const { rowCount } = await forge.pool.query(
      'update read.artifacts set path = $2 where run_id = $1',
      [run.run_id, path],
    )
    return rowCount === 1
  })
  await ingest(forge, run, 'logs', { chunks: [hostile, 'x'.repeat(64 * 1024), 'the last'] })
  await ingest(forge, run, 'hparams', { params: { '<b>key</b>': hostile } })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}/samples`)
  await page.getByRole('link', { name: 'Samples', exact: true }).waitFor()
  const sayings: [tab: string, text: string | RegExp][] = [
    ['samples', /⟨202e⟩txt\.exe ␛\]0;title␇/],
    ['artifacts', /onerror="window\.hit=1"> ⟨202e⟩txt\.pt/],
    ['logs', /<script>window\.hit=1<\/script> ⟨202e⟩txt\.exe/],
    ['overview', '<b>key</b>'],
    ['events', /registered the checkpoint/],
  ]
  for (const [tab, text] of sayings) {
    await page.goto(`${forge.url}/runs/${run.run_id}/${tab}`)
    await page.getByText(text).first().waitFor()
    t.is(await page.locator('main img, main script, main b').count(), 0, tab)
    t.is(await page.locator('a[href*="evil"]').count(), 0, tab)
  }
  await page.goto(`${forge.url}/runs`)
  await page.getByRole('link', { name: '<img src=x onerror="window.hit=1">' }).waitFor()
  t.is(await page.evaluate(() => Reflect.get(window, 'hit')), undefined)
  t.deepEqual(faults, [])
})
