import test from 'ava'
import { byCloseness } from '../../clients/console/src/shell/closeness.ts'
import { sharedForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { becomes, openSignedIn } from './browse.ts'

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
