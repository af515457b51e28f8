import test from 'ava'
import { openPage, signInAtProvider } from '../console/browse.ts'
import { proxyUnder } from '../servers/path-proxy.ts'
import { patient } from '../servers/patience.ts'
import { startWithRealProvider } from './provider.ts'

test('under a path, people return from the provider to the page that they came from', async t => {
  t.timeout(patient(120_000))
  const proxy = await proxyUnder(t, '/ml/forge')
  const { forge, people } = await startWithRealProvider(t, {
    env: { SERVICE_BASE_URL: proxy.url },
  })
  proxy.passTo(forge.url)
  people.set('u-1', { preferred_username: 'ada' })
  const { page, faults } = await openPage(t)
  await page.goto(`${proxy.url}/runs?q=state:running`)
  await signInAtProvider(page, 'u-1')
  await page.waitForURL(url => url.href.startsWith(`${proxy.url}/runs?`))
  await page.getByText('ada').first().waitFor()
  const cookies = await page.context().cookies(`${proxy.url}/api/auth/refresh`)
  const own = cookies.filter(({ name }) => name.startsWith('forge_'))
  t.deepEqual(
    own.map(({ name, path }) => `${name} ${path}`),
    ['forge_refresh /ml/forge/api/auth'],
  )
  t.deepEqual(faults, [])
  t.deepEqual(proxy.strayed, [])

  const login = (returnTo: string) =>
    fetch(`${proxy.url}/api/auth/oidc/login?${new URLSearchParams({ return_to: returnTo })}`, {
      redirect: 'manual',
    })
  t.is((await login('/ml/forge/runs')).status, 302)
  for (const elsewhere of ['/ml/forgery', '/other', '/ml/forge/../other', '//evil.example'])
    t.is((await login(elsewhere)).status, 400, elsewhere)
})
