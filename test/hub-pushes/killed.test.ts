import { createHash } from 'node:crypto'
import test from 'ava'
import { startSmallHub } from '../hub-imports/small-hub.ts'
import { startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { exported, push, setToken, untilOver, weights } from './pushing.ts'

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

test('a push whose server was killed sends only the rest, and commits once', async t => {
  t.timeout(patient(300_000))
  const hub = await startSmallHub()
  t.teardown(hub.close)
  hub.writes.people.set('hf_ada', 'ada')
  const forge = await startForgeProcess(t, {
    SERVICE_HUB_ENDPOINT: hub.url,
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  await setToken(forge, 'hf_ada')
  const [first, second] = [weights(), weights()]
  const { artifact_id } = await exported(forge, { 'a.bin': first, 'b.bin': second })
  // Killed while it sends the second file.
  hub.writes.stalls.add(sha256(second))
  const { body } = await push(forge, { artifact_id, repo: 'acme/killed' })
  const isAsked = (part: string) => hub.requests.some(one => one.includes(part))
  await until('the second file is on its way', 60_000, () => isAsked(sha256(second)))
  await forge.kill()
  hub.writes.stalls.clear()
  // Killed when the hub has made the commit, and Forge does not know.
  hub.writes.isMute = true
  await forge.start()
  await until('it was committed', 150_000, () => hub.writes.commits.length > 0)
  await forge.kill()
  hub.writes.isMute = false
  await forge.start()
  t.like(await untilOver(forge, body.push_id), { state: 'sent' })
  const large = [first, second].map(sha256)
  const sentOnce = hub.writes.arrived.filter(one => large.includes(one))
  t.deepEqual(sentOnce.sort(), large.sort(), 'each file once')
  t.is(hub.writes.commits.length, 1)
  t.deepEqual(hub.filesOf('acme/killed')?.['b.bin'], second)
})
