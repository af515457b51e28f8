import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { axeFinds, keepViews, openPage, signIn } from './browse.ts'

test('a person sets, replaces and removes a secret in the settings, and sees the jobs that need it', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/settings`)
  await signIn(page)
  const panel = page.getByRole('region', { name: 'Secrets' })
  await panel.getByText('Only your own jobs receive these values').waitFor()
  const fill = async (name: string, value: string) => {
    await panel.getByLabel('Name').fill(name)
    await panel.getByLabel('Value').fill(value)
    await panel.getByRole('button', { name: 'Set the secret' }).click()
  }
  await fill('PATH', '/tmp')
  await panel
    .getByRole('alert')
    .getByText(/named like an environment variable/)
    .waitFor()
  await fill('HUB_TOKEN', 'hf_first')
  await panel.getByRole('cell', { name: 'HUB_TOKEN', exact: true }).waitFor()
  t.is(await panel.getByLabel('Value').inputValue(), '')

  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { body } = await forge.call<{ short_id: string }>('POST', '/api/jobs', {
    body: {
      api: 'forge/v2',
      metadata: { name: 'needs a secret', project: 'demo' },
      lock,
      spec: { secrets: ['HUB_TOKEN'], scheduling: { not_before: '2099-01-01T00:00:00Z' } },
    },
  })
  t.truthy(body.short_id, JSON.stringify(body))
  await panel.getByRole('button', { name: 'Replace HUB_TOKEN' }).click()
  await panel.getByLabel('Value').fill('hf_second')
  await panel.getByRole('button', { name: 'Set the secret' }).click()
  await panel.getByRole('link', { name: body.short_id }).waitFor()
  await keepViews(page, 'console-secrets')
  t.deepEqual(await axeFinds(page), [])

  await panel.getByRole('button', { name: 'Remove HUB_TOKEN' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove HUB_TOKEN' })
  await dialog.getByText(`fail when they start again without it: ${body.short_id}`).waitFor()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await panel.getByText('Only your own jobs receive these values').waitFor()
  t.deepEqual(faults, [])
})
