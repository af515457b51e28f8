import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { begin, untilEnded } from './importing.ts'
import { startSmallHub } from './small-hub.ts'

/** Everything that a stream has sent so far. */
async function following(url: string, token: string, signal: AbortSignal) {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/api/stream?topics=hub-imports,hub-pushes`, { headers, signal })
  const heard = { status: answer.status, text: '' }
  const decoder = new TextDecoder()
  const read = async () => {
    for await (const chunk of answer.body ?? []) heard.text += decoder.decode(chunk)
  }
  read().catch(() => {})
  return heard
}

test('the topic streams each change of an import to its owner and admins, and to nobody else', async t => {
  const hub = await startSmallHub()
  t.teardown(hub.close)
  hub.commit('acme/tiny', { 'config.json': '{}' })
  const forge = await startForge(t, {
    SERVICE_HUB_ENDPOINT: hub.url,
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const stranger = await signedIn(forge, 'stranger')
  const ending = new AbortController()
  t.teardown(() => ending.abort())
  const own = await following(forge.url, forge.token, ending.signal)
  const others = await following(forge.url, stranger, ending.signal)
  t.deepEqual([own.status, others.status], [200, 200])
  const { body } = await begin(forge, 'hub:acme/tiny')
  await untilEnded(forge, body.import_id)
  await until('the stream says that it is ready', 30_000, () => /"state":"ready"/.test(own.text))
  t.regex(own.text, /event: hub-imports\n/)
  t.false(own.text.includes('"change"'))
  t.false(others.text.includes('hub-imports\n'))
  t.false(others.text.includes('acme/tiny'))
})
