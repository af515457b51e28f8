import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { packed } from '../platform/files/tar-of.ts'
import { publish, untilBuilt } from '../rl-environments/publishing.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { deployedGguf } from './tiny-gguf.ts'

const folder = join(import.meta.dirname, '../../recipes/environments/sums')

test('the smoke rollouts of an environment run on llama.cpp, through the gateway', async t => {
  t.timeout(patient(500_000), 'environments are built')
  const forge = await startForge(t)
  const deployment_id = await deployedGguf(forge, 'player')
  const path = `/api/deployments/${deployment_id}`
  const names = ['environment.yaml', 'sums.py']
  const files = names.map(async name => ({
    path: name,
    content: await readFile(join(folder, name)),
  }))
  const archive = packed(...(await Promise.all(files)))
  const { body } = await publish(forge, archive, { deployment: deployment_id })
  const built = await untilBuilt(forge, body.ref)
  t.log(built.rollouts, built.log)
  t.is(built.state, 'ready', built.log)
  t.is(built.baseline?.rewards.length, 4)
  // Its weights are random, so a reward may be anywhere in the range.
  for (const reward of built.baseline?.rewards ?? []) t.true(reward >= 0 && reward <= 1)
  const traffic = await until('the traffic is recorded', 30_000, async () => {
    const { body: rows } = await forge.call<{ token_id: string; status: number }[]>(
      'GET',
      `${path}/traffic?limit=50`,
    )
    const found = rows.filter(({ token_id }) => token_id.startsWith('build-'))
    return found.length >= 4 && found
  })
  t.deepEqual(
    traffic.map(({ status }) => status),
    [200, 200, 200, 200],
  )
})
