import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

test('without a provider its sign-in is 501, and nothing in the log looks like a failure', async t => {
  const forge = await startForge(t, { SERVICE_LOG_LEVEL: 'info' })
  for (const accept of ['application/json', 'text/html']) {
    const answer = await fetch(`${forge.url}/api/auth/oidc/login`, { headers: { accept } })
    t.is(answer.status, 501, accept)
    t.regex(await answer.text(), /No identity provider is configured on this server/)
  }
  const lines = await until('both lines are written', 10_000, async () => {
    const lines = forge
      .output()
      .split('\n')
      .filter(line => line.includes('/api/auth/oidc/login'))
    return lines.length === 2 ? lines : null
  })
  t.deepEqual(
    lines.filter(line => line.includes('"stack"') || line.includes('"level":40')),
    [],
  )
})
