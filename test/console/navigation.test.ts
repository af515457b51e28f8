import test from 'ava'
import { entriesFor, isAt } from '../../clients/console/src/navigation/groups.ts'
import { places } from '../../clients/console/src/pages/all.ts'
import { sharedForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'
import { press } from './keyboard.ts'

const shared = sharedForge()

test('each page of the header is in one place of it, those of a group together', t => {
  const entries = entriesFor('admin')
  const all = entries.flatMap(entry => (entry.group === null ? [entry.place] : entry.places))
  const expected = places.filter(({ isInHeader }) => isInHeader)
  t.deepEqual(new Set(all), new Set(expected))
  t.is(all.length, expected.length)
  const groups = entries.flatMap(({ group }) => group ?? [])
  t.deepEqual(groups, [...new Set(groups)])
  t.true(entries.length <= 10, 'more do not fit side by side')
  const ofMember = entriesFor('operator').flatMap(entry =>
    entry.group === null ? entry.place.to : [],
  )
  t.false(ofMember.includes('/admin'))
  t.true(ofMember.includes('/runs'))
})

test('a page is at a place if its address is the same or below it', t => {
  t.true(isAt({ to: '/models' }, '/models'))
  t.true(isAt({ to: '/models' }, '/models/vision'))
  t.false(isAt({ to: '/models' }, '/models-old'))
  t.false(isAt({ to: '/' }, '/models'))
})

test('the menus of the header open pages by keyboard, show where one is, and close by Escape', async t => {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/queue`)
  await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor()
  const data = page.getByRole('banner').getByRole('button', { name: 'Data' })
  await press(page, data)
  await page.getByRole('menuitem', { name: 'Datasets' }).waitFor()
  await keepViews(page, 'console-menu')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])
  await page.keyboard.press('Escape')
  await becomes(t, () => page.getByRole('menuitem').count(), 0)
  await becomes(t, () => data.evaluate(one => one === document.activeElement), true)
  await page.keyboard.press('ArrowDown')
  await page.getByRole('menuitem', { name: 'Benchmarks' }).waitFor()
  await page.keyboard.type('ben')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Benchmarks' }).waitFor()
  await becomes(t, () => page.getByRole('menuitem').count(), 0)
  await data.click()
  const here = page.getByRole('menuitem', { name: 'Benchmarks' })
  await becomes(t, () => here.getAttribute('aria-current'), 'page')
  await page.keyboard.press('Escape')

  await page.getByRole('banner').getByRole('button', { name: 'Admin', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Audit' }).click()
  await page.getByRole('heading', { level: 2, name: 'Audit' }).waitFor()
  t.deepEqual(faults, [])
})

test('where the pages do not fit side by side, one menu lists them by group', async t => {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${forge.url}/queue`)
  await page.getByRole('button', { name: 'Pages' }).click()
  const data = page.getByRole('group', { name: 'Data' })
  await data.getByRole('menuitem', { name: 'Rubrics' }).waitFor()
  await fits(page)
  t.deepEqual(await axeFinds(page), [])
  await data.getByRole('menuitem', { name: 'Rubrics' }).click()
  await page.getByRole('heading', { level: 1, name: 'Rubrics' }).waitFor()
  t.deepEqual(faults, [])
})

test('pointing at a link loads the code of its page and what that shows first', async t => {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/queue`)
  await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor()
  const asked: string[] = []
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  const reads = () => asked.filter(path => path === '/api/projects').length
  const link = page.getByRole('banner').getByRole('link', { name: 'Projects' })
  await link.hover()
  await becomes(t, async () => reads(), 1)
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
  // A focused one, too.
  asked.length = 0
  await page.getByRole('banner').getByRole('link', { name: 'Runs' }).focus()
  await becomes(t, async () => asked.filter(path => path === '/api/runs').length, 1)
  t.deepEqual(faults, [])
})

test('a page at rest loads what the next click most likely needs', async t => {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  const loaded: string[] = []
  page.on('requestfinished', request => loaded.push(new URL(request.url()).pathname))
  await page.goto(`${forge.url}/queue`)
  await until('the menus and the charts arrived', 20_000, async () =>
    ['menu-list', 'plot'].every(name =>
      loaded.some(path => path.includes(`/${name}-`) && path.endsWith('.js')),
    ),
  )
  t.deepEqual(faults, [])
})
