import { randomBytes } from 'node:crypto'
import test from 'ava'
import { startSmallHub } from '../hub-imports/small-hub.ts'
import { exported, setToken, weights } from '../hub-pushes/pushing.ts'
import { sharedForge, startForge } from '../servers/forge.ts'
import { axeFinds, keepViews, openPage, signIn } from './browse.ts'

const theForge = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

test('without a hub, the page says who can name one, and offers no import', async t => {
  const forge = await theForge()
  const { page } = await openPage(t)
  await page.goto(`${forge.url}/hub-imports`)
  await signIn(page)
  await page.getByText('No hub is configured').waitFor()
  t.is(await page.getByRole('button', { name: 'Import', exact: true }).count(), 0)
  t.is(await page.getByText(/forge hub/).count(), 0)
  await keepViews(page, 'console-no-hub')
})

test('a person imports models, follows their progress, reads why one was refused or failed, and deletes one', async t => {
  const hub = await startSmallHub()
  t.teardown(hub.close)
  const slow = hub.commit('acme/slow', { 'model.bin': randomBytes(4_000_000) })
  hub.stalls.set(`/acme/slow/resolve/${slow}/model.bin`, 500_000)
  const wrong = hub.commit('acme/wrong', { 'model.bin': randomBytes(5000) })
  hub.swapped.set(`/acme/wrong/resolve/${wrong}/model.bin`, randomBytes(5000))
  hub.commit('acme/tiny', { 'config.json': '{}' })
  const forge = await startForge(t, {
    SERVICE_HUB_ENDPOINT: hub.url,
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/hub-imports`)
  await signIn(page)
  await page.getByText('No imports yet').waitFor()
  const begin = async (ref: string) => {
    await page.getByLabel('Model', { exact: true }).fill(ref)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
  }
  await begin('acme/none')
  await page
    .getByRole('alert')
    .getByText(/Repository not found \(RepoNotFound\)/)
    .waitFor()
  await begin('acme/tiny')
  const rowOf = (name: string) => page.getByRole('row').filter({ hasText: name })
  await rowOf('acme/tiny').getByText('ready').waitFor()
  await rowOf('acme/tiny').getByText('apache-2.0').waitFor()
  await begin('hub:acme/slow')
  await rowOf('acme/slow').getByText('downloading').waitFor()
  await rowOf('acme/slow')
    .getByText(/^[1-9].* of /)
    .waitFor({ timeout: 60_000 })
  await begin('acme/wrong')
  await rowOf('acme/wrong')
    .getByText(/sent model\.bin with the SHA-256/)
    .waitFor()
  await keepViews(page, 'console-hub-imports')
  t.deepEqual(await axeFinds(page), [])

  hub.swapped.clear()
  await rowOf('acme/wrong')
    .getByRole('button', { name: /^Try again to import hub:acme\/wrong@/ })
    .click()
  await rowOf('acme/wrong').getByText('ready').waitFor()
  await rowOf('acme/slow')
    .getByRole('button', { name: /^Stop the import of/ })
    .click()
  const dialog = page.getByRole('dialog', { name: /^Stop the import of hub:acme\/slow/ })
  await dialog.getByRole('button', { name: 'Stop', exact: true }).click()
  await rowOf('acme/slow').waitFor({ state: 'detached' })

  await rowOf('acme/tiny')
    .getByRole('button', { name: /^Lineage of/ })
    .click()
  await page.getByText('Nothing else precedes or follows it.').waitFor()

  // An export of a run goes to the hub.
  hub.writes.people.set('hf_ada', 'ada')
  await setToken(forge, 'hf_ada')
  const { run } = await exported(forge, { 'config.json': '{}', 'model.bin': weights() })
  await page.goto(`${forge.url}/runs/${run.run_id}/artifacts`)
  await page.getByRole('button', { name: /^More.*model\.folder\.tar\.gz/ }).click()
  await page.getByRole('menuitem', { name: 'Send to the hub' }).click()
  const send = page.getByRole('dialog', { name: /^Send .* to the hub$/ })
  await send.getByRole('textbox', { name: 'Repository' }).fill('other/tutor')
  await send.getByRole('button', { name: 'Send', exact: true }).click()
  await send.getByText(/no member of other/).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-hub-push')
  await send.getByRole('textbox', { name: 'Repository' }).fill('acme/tutor')
  await send.getByRole('button', { name: 'Send', exact: true }).click()
  await rowOf('acme/tutor').getByText('sent', { exact: true }).waitFor({ timeout: 60_000 })
  await keepViews(page, 'console-hub-pushes')
  t.deepEqual(await axeFinds(page), [])
  // The browser reports the refusal itself.
  t.deepEqual(
    faults.filter(one => !/400/.test(one)),
    [],
  )
})
