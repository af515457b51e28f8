import test, { type ExecutionContext } from 'ava'
import { adminPassword, signIn as signInByApi } from '../servers/api.ts'
import { type Forge, sharedForge, startForge, startForgeProcess } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { createPerson, openPage, openSignedIn, signIn } from './browse.ts'

const shared = sharedForge()
const hello = { name: 'Hello, admin' }

/** The first page of a person who is signed in. */
async function openHome(t: ExecutionContext, forge: Pick<Forge, 'url' | 'pool' | 'call'>) {
  const opened = await openSignedIn(t, forge)
  await opened.page.goto(forge.url)
  await opened.page.getByRole('heading', hello).waitFor()
  return opened
}

/** Ends all other sessions of a person. */
async function endSessions(forge: Forge, username: string): Promise<void> {
  const token = await signInByApi(forge.url, username)
  const { body: sessions } = await forge.call<{ sid: string; current: boolean }[]>(
    'GET',
    '/api/auth/sessions',
    { token },
  )
  for (const { sid, current } of sessions)
    if (!current) await forge.call('DELETE', `/api/auth/sessions/${sid}`, { token })
}

test('a browser stays signed in without a token in its storage or addresses, and tabs leave together', async t => {
  const forge = await shared()
  const { page, another, faults } = await openPage(t)
  await page.goto(forge.url)
  await signIn(page)
  await page.getByRole('heading', hello).waitFor()
  t.is(await page.evaluate('sessionStorage.length'), 0)
  t.deepEqual(await page.evaluate('Object.keys(localStorage)'), [])
  t.is(await page.evaluate('document.cookie'), '')
  await page.reload()
  await page.getByRole('heading', hello).waitFor()

  const tab = await another()
  await tab.goto(forge.url)
  await tab.getByRole('heading', hello).waitFor()
  // Many at once: a refresh token that two tabs use at the same time would look stolen.
  await Promise.all([page, tab, page, tab].map(one => one.reload().catch(() => {})))
  await page.getByRole('heading', hello).waitFor()
  await tab.getByRole('heading', hello).waitFor()

  await page.getByRole('button', { name: 'Account: admin' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Username').waitFor()
  await tab.getByText('You signed out in another tab').waitFor()
  await tab.getByLabel('Username').waitFor()
  t.deepEqual(faults, [])
})

test('when a session is ended elsewhere the page says so, and continues after a new sign-in', async t => {
  const forge = await shared()
  await createPerson(forge, 'ada')
  const { page, faults } = await openSignedIn(t, forge, 'ada')
  await page.goto(forge.url)
  await page.getByRole('heading', { name: 'Hello, ada' }).waitFor()
  await endSessions(forge, 'ada')
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await dialog.getByText('Your sign-in has expired').waitFor()
  await signIn(page, { username: 'ada' })
  await dialog.waitFor({ state: 'detached' })
  await page.locator('[data-live=live]').waitFor()
  t.deepEqual(faults, [])
})

test('while the server is down the page says since when, and it becomes live again automatically', async t => {
  const forge = await startForgeProcess(t)
  const { page, faults } = await openHome(t, forge)
  await page.locator('[data-live=live]').waitFor()
  await page.context().setOffline(true)
  await forge.kill()
  await page.locator('[data-live=reconnecting]').waitFor()
  await page.getByRole('alert').getByText('The server does not respond').waitFor()
  t.true(await page.getByRole('heading', hello).isVisible(), 'loaded content stays')
  await page.context().setOffline(false)
  await forge.start()
  await page.locator('[data-live=live]').waitFor()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  const { body } = await forge.call<{ short_id: string; run_id: string; token: string }>(
    'POST',
    '/api/runs',
    { body: { project: 'demo', name: 'after it' } },
  )
  await forge.call('POST', '/api/ingest/lifecycle', {
    token: body.token,
    body: { run_id: body.run_id, event: 'running' },
  })
  await page.getByRole('link', { name: 'after it' }).waitFor()
  t.deepEqual(faults, [])
})

test('a server that is suspended is not called live for long, and a page asked for meanwhile opens afterwards', async t => {
  const forge = await startForgeProcess(t)
  const { page, faults } = await openHome(t, forge)
  await page.locator('[data-live=live]').waitFor()
  t.teardown(() => forge.signal('SIGCONT'))
  forge.signal('SIGSTOP')
  const notice = page.getByRole('alert').getByText('The server does not respond')
  // Without asking it, the stream would count as dead after 40 s only, however slow this machine is.
  await notice.waitFor({ timeout: 30_000 })
  t.is(await page.locator('[data-live=live]').count(), 0)
  // The code of this page has to be fetched.
  await page.getByRole('banner').getByRole('link', { name: 'Failures' }).click()
  t.true(await notice.isVisible())
  forge.signal('SIGCONT')
  await page.getByRole('heading', { name: 'Failures', level: 1 }).waitFor()
  await notice.waitFor({ state: 'detached' })
  await page.locator('[data-live=live]').waitFor()
  t.deepEqual(faults, [])
})

test('a page asked for while the server is away says so, and opens once the server is back', async t => {
  const forge = await startForgeProcess(t)
  const { page, faults } = await openHome(t, forge)
  await forge.kill()
  await page.getByRole('banner').getByRole('link', { name: 'Failures' }).click()
  await page.getByText('This page opens automatically').waitFor()
  await forge.start()
  await page.getByRole('heading', { name: 'Failures', level: 1 }).waitFor()
  t.deepEqual(
    faults.filter(fault => !/dynamically imported module|Unable to preload CSS/.test(fault)),
    [],
  )
})

test('a page without a network is not marked live, and shows this and an expired session in Chinese', async t => {
  const forge = await shared()
  await createPerson(forge, 'bea')
  const { page, faults } = await openPage(t)
  await page.addInitScript(() => localStorage.setItem('forge.language', 'zh'))
  await page.goto(forge.url)
  await page.getByLabel('用户名').fill('bea')
  await page.getByLabel('密码').fill(adminPassword)
  await page.getByRole('button', { name: '登录' }).click()
  const live = page.locator('[data-live=live]')
  await live.waitFor()
  await page.keyboard.press('Control+k')
  const find = page.getByRole('combobox')
  await find.waitFor()
  await page.context().setOffline(true)
  // The stream stays open, and silent; this is requested again.
  await find.fill('bert')
  const notice = page.locator('[role=alert]')
  await notice.getByText('服务器没有响应').waitFor()
  await live.waitFor({ state: 'detached' })
  await page.context().setOffline(false)
  await live.waitFor()
  await notice.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')

  await endSessions(forge, 'bea')
  await page.getByRole('dialog').getByText('登录已失效').waitFor()
  t.deepEqual(faults, [])
})

test('during maintenance the page gives the reason, and continues afterwards', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openHome(t, forge)
  const put = (enabled: boolean) =>
    forge.call('PUT', '/api/admin/maintenance', {
      body: { enabled, message: 'New disks until 12' },
    })
  await put(true)
  await page.getByRole('alert').getByText('New disks until 12').waitFor()
  await put(false)
  await until('nothing is wrong', 30_000, async () => (await page.getByRole('alert').count()) === 0)
  await page.locator('[data-live=live]').waitFor()
  await page.getByRole('heading', hello).waitFor()
  t.deepEqual(faults, [])
})
