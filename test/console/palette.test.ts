import test from 'ava'
import { byCloseness } from '../../clients/console/src/shell/closeness.ts'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, becomes, openSignedIn } from './browse.ts'

const shared = sharedForge()
const run = (short_id: string, name: string | null = null) => ({
  ...{ run_id: `run_${short_id}`, short_id, name },
})
const ids = (text: string, ...runs: ReturnType<typeof run>[]) =>
  byCloseness(text, runs).map(({ short_id }) => short_id)

test('an exact id comes first, then matches at the start of ids and names, then the rest, each in its own order', t => {
  const runs = [
    run('rlhf-2', 'after vision-1'),
    run('vision-19'),
    run('vision-1'),
    run('vision-10'),
  ]
  t.deepEqual(ids('vision-1', ...runs), ['vision-1', 'vision-19', 'vision-10', 'rlhf-2'])
  t.deepEqual(ids('VISION-1', ...runs), ['vision-1', 'vision-19', 'vision-10', 'rlhf-2'])
  t.deepEqual(ids('after', ...runs), ['rlhf-2', 'vision-19', 'vision-1', 'vision-10'])
  t.deepEqual(ids('digits', run('a-1'), run('b-1', 'digits'), run('a-1')), ['b-1', 'a-1'])
})

test('the palette offers the oldest run first when its id is typed, and Enter opens it', async t => {
  const forge = await shared()
  const made = [await createRun(forge, 'vision')]
  for (let n = 2; n <= 12; n++) made.push(await createRun(forge, 'vision'))
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/queue`)
  await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  const [first] = made
  await page.getByRole('combobox').fill(String(first?.short_id))
  await becomes(
    t,
    async () => String(await page.getByRole('option').first().textContent()).split(/[ ·]/)[0],
    first?.short_id.concat('pending'),
  )
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/runs/${first?.short_id}`)
  t.deepEqual(faults, [])
})

test('text typed while the palette is still loading is not lost', async t => {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  let arrive = () => {}
  const typed = new Promise<void>(resolve => {
    arrive = resolve
  })
  await page.route(/\/palette-[^/]+\.js$/, async route => {
    await typed
    await route.continue()
  })
  await page.goto(`${forge.url}/queue`)
  await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('annot')
  arrive()
  await becomes(t, () => page.getByRole('combobox').inputValue(), 'annot')
  await page.keyboard.type('ation')
  await page.getByRole('option', { name: 'Annotation', exact: true }).waitFor()
  t.is(await page.getByRole('combobox').inputValue(), 'annotation')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/annotations')
  t.deepEqual(faults, [])
})

test('one search finds things of several types, and the palette and its page lead to each', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'needle')
  const checkpoint = { kind: 'checkpoint', path: 's3://b/needle-3', format: 'npz', step: 3 }
  await ingest(forge, run, 'artifact', checkpoint)
  await forge.call('POST', '/api/models', { body: { name: 'needle-model', project: 'needle' } })
  const criteria = [{ name: 'sharp', weight: 1, description: 'It is sharp.' }]
  await forge.call('PUT', '/api/rubrics/admin/needle-rubric', {
    body: { name: 'needle-rubric', criteria },
  })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/queue`)
  await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('needle-model')
  await page.getByRole('option', { name: 'Model: needle-model' }).click()
  await page.waitForURL('**/models/needle-model')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('needle')
  await page.getByRole('option', { name: 'Everything with needle' }).click()
  await page.waitForURL('**/search?q=needle')
  for (const [section, name, address] of [
    ['Runs', run.short_id, `/runs/${run.short_id}`],
    ['Models', 'needle-model', '/models/needle-model'],
    ['Rubrics', 'admin/needle-rubric', '/rubrics/admin/needle-rubric'],
    ['Artifacts', 's3://b/needle-3', `/runs/${run.short_id}/artifacts`],
  ] as const) {
    await page.getByRole('table', { name: section }).getByRole('link', { name }).click()
    await page.waitForURL(`**${address}`)
    await page.goBack()
  }
  await page.getByRole('searchbox').fill('needle (')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'column 9' }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(
    faults.filter(fault => !fault.includes('422')),
    [],
  )
})
