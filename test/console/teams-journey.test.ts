import test from 'ava'
import { passwordOf } from '../servers/api.ts'
import { startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { axeFinds, keepViews, openPage, signIn } from './browse.ts'

test('a person creates a team, moves a project to it, and a member sees it', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  await signedIn(forge, 'bob')
  await createRun(forge, 'shared-work')
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/teams`)
  await signIn(page)
  await page.getByText('You are in no team').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Create a team' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('rl')
  await dialog.getByRole('button', { name: 'Create a team' }).click()
  await page.getByRole('heading', { name: 'rl', level: 1 }).waitFor()

  await page.getByRole('textbox', { name: 'Person' }).fill('bob')
  await page.getByRole('button', { name: 'Set the role' }).click()
  await page.getByRole('row').filter({ hasText: 'bob' }).waitFor()
  await page.getByRole('spinbutton', { name: 'GPUs at once' }).fill('8')
  await page.getByRole('button', { name: 'Set the pool' }).click()
  await page.getByRole('cell', { name: '8', exact: true }).waitFor()
  await page.getByRole('textbox', { name: 'Project' }).fill('shared-work')
  await page.getByRole('button', { name: 'Move a project here' }).click()
  await page.getByRole('link', { name: 'shared-work' }).waitFor()
  await page.getByRole('textbox', { name: 'Group' }).fill('ml-research')
  await page.getByRole('button', { name: 'Map a group' }).click()
  await page.getByRole('row').filter({ hasText: 'ml-research' }).waitFor()
  await keepViews(page, 'console-team')
  t.deepEqual(await axeFinds(page), [])

  const member = await openPage(t)
  await member.page.goto(`${forge.url}/teams`)
  await signIn(member.page, { username: 'bob', password: passwordOf('bob') })
  await member.page.getByRole('link', { name: 'rl' }).click()
  await member.page.getByRole('link', { name: 'shared-work' }).click()
  await member.page.getByRole('heading', { name: 'shared-work' }).first().waitFor()
  await member.page.goto(`${forge.url}/teams/rl`)
  await member.page.getByRole('button', { name: 'Leave' }).click()
  await member.page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
  await member.page.getByText('You are in no team').waitFor()
  t.deepEqual([...faults, ...member.faults], [])
})
