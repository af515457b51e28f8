import test from 'ava'
import { deployed } from '../gateway/deployed.ts'
import { environmentOf, publish, untilBuilt } from '../rl-environments/publishing.ts'
import { serveEngine } from '../servers/engine.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'

test('an environment shows its smoke rewards, why a version failed, and what deleting one breaks', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  let asked = 0
  const url = await serveEngine(t, (request, response) => {
    request.resume().on('end', () => {
      asked += 1
      const content = asked % 2 === 0 ? 'It is 5.' : 'It is 6.'
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ data: [{ id: 'x' }], choices: [{ index: 0, message: { content } }] }),
      )
    })
  })
  const { deployment_id } = await deployed(forge, 'player', [url])
  await publish(forge, environmentOf(), { deployment: deployment_id })
  await untilBuilt(forge, 'admin/sums@0.1.0')
  await publish(forge, environmentOf({ version: '0.2.0' }, { 'sums.py': 'import nothing' }))
  await untilBuilt(forge, 'admin/sums@0.2.0')

  const { page, faults } = await openSignedIn(t, forge, 'admin')
  const looksRight = async (name: string) => {
    await keepViews(page, name)
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      await fits(page)
      t.deepEqual(await axeFinds(page), [], `${name}, ${width} wide`)
    }
  }
  await page.goto(`${forge.url}/environments`)
  await page.getByRole('link', { name: 'admin/sums@0.2.0' }).waitFor()
  await looksRight('environments')
  await page.getByRole('link', { name: 'admin/sums@0.2.0' }).click()
  await page
    .getByText(/sums:rollout cannot be loaded: ModuleNotFoundError/)
    .first()
    .waitFor()
  await page.getByRole('region', { name: 'Log' }).first().waitFor()
  await page.getByRole('link', { name: 'Version 0.1.0' }).click()
  await page.getByRole('img', { name: /Smoke rollouts: mean 0\.5/ }).waitFor()
  await looksRight('environment')
  await page.getByRole('button', { name: 'Make public' }).click()
  await page.getByRole('button', { name: 'Make private' }).waitFor()
  await page.getByRole('button', { name: 'Deprecate' }).click()
  await page.getByLabel('Reason').fill('too easy')
  await page.getByRole('dialog').getByRole('button', { name: 'Deprecate' }).click()
  await page.getByText('Deprecated: too easy').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No run or version that you may read names it.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await becomes(t, async () => page.getByRole('link', { name: 'Version 0.1.0' }).count(), 0)
  t.deepEqual(faults, [])
})
