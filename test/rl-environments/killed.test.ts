import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { deployed } from '../gateway/deployed.ts'
import { serveEngine } from '../servers/engine.ts'
import { type Forge, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { environmentOf, publish, untilBuilt } from './publishing.ts'

/** Programs of a build that still run, by their mark. */
const leftOver = (): string[] =>
  readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const environ = readFileSync(`/proc/${pid}/environ`, 'utf8')
      return environ.includes('FORGE_RUN_MARK=build-') && environ.includes('FORGE_ROLLOUTS=')
    } catch {
      return false
    }
  })

test('a build whose server is killed begins again, and is recorded once', async t => {
  t.timeout(patient(240_000), 'a lease has to end')
  const forge = await startForgeProcess(t)
  let isHeld = false
  let asked = 0
  const url = await serveEngine(t, (request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST') asked += 1
      if (isHeld) return
      response.writeHead(200, { 'content-type': 'application/json' })
      const choices = [{ index: 0, message: { content: '5' } }]
      response.end(JSON.stringify({ data: [{ id: 'default' }], choices }))
    })
  })
  const { deployment_id } = await deployed(forge as unknown as Forge, 'for-rollouts', [url])
  isHeld = true
  const before = asked
  const { body } = await publish(forge, environmentOf(), { deployment: deployment_id })
  await until('its first rollout asks the model', 60_000, async () => asked > before)
  await forge.kill()
  isHeld = false
  await forge.start()
  const built = await untilBuilt(forge, body.ref)
  t.like(built, { state: 'ready', error: null, baseline: { mean: 1 } })
  t.is(built.rollouts.length, 4)
  const { rows } = await forge.pool.query(
    `select (select attempts from write.duty where reactor = 'build-rl-environments') as attempts,
            (select count(*)::int from write.event where type = 'environment.built') as results`,
  )
  t.deepEqual(rows, [{ attempts: 2, results: 1 }])
  t.deepEqual(leftOver(), [])
})
