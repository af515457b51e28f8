import test from 'ava'
import { patient } from '../servers/patience.ts'
import { isolations, playScene } from './play-scene.ts'
import { whatHolds } from './what-holds.ts'

// A job that knows where the engine of somebody else listens, and tries to pose as it, to take its place and to reach it.

type Managed = Record<'heard' | 'listened' | 'replaced' | 'reached', string[]>
type Outcome = {
  /** `ended`: the engine could not listen. */
  state: 'responds' | 'ended'
  whileLoading: { ok: boolean; detail: string | null }
  /** Whose responses the server got. */
  believed: string[]
  managed: Managed
  log: string
}
type Played = { mode: string; onSocket: Outcome; onPort: Outcome }

const scene = new URL('impostor-scene.ts', import.meta.url)

for (const { title, setting, as } of isolations(await whatHolds()))
  test.serial(`${title}: no job is taken for the engine of somebody else`, async t => {
    t.timeout(patient(120_000))
    const { mode, onSocket, onPort }: Played = JSON.parse(
      await playScene(t, scene, { setting, as }),
    )
    t.is(mode, setting)
    for (const { whileLoading, managed, log } of [onSocket, onPort]) {
      t.deepEqual(managed.listened, ['127.0.0.1', '0.0.0.0'], 'it was there in time')
      t.false(whileLoading.ok, 'the smoke test does not believe it')
      t.deepEqual(managed.heard, [], log)
      t.deepEqual(managed.replaced, [])
    }
    t.like(onSocket, { state: 'responds', believed: ['genuine'] }, onSocket.log)
    t.deepEqual(onPort.believed, onPort.state === 'responds' ? ['genuine'] : [], onPort.log)
    // Landlock does not govern connect() to a socket that has a path.
    t.deepEqual(onSocket.managed.reached, setting === 'landlock' ? ['socket'] : [])
  })

test('attacks that cannot be tried here are reported', async t => {
  const tried = isolations(await whatHolds())
  t.log(tried.map(({ title }) => title))
  t.true(tried.length > 0)
})
