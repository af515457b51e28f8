import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, keepViews, openSignedIn } from './browse.ts'

test('a job is written by form and YAML, checked while typing, submitted and copied', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/submit?recipe=digits@1.0.0`)
  const yaml = page.getByLabel('job.yaml')
  const says = (text: RegExp) =>
    until(`the YAML says ${text}`, 20_000, async () => text.test(await yaml.inputValue()))
  const submit = page.getByRole('button', { name: 'Submit', exact: true })
  await page.getByText(/^All \d+ gates pass\.$/).waitFor()

  await page.getByLabel('lr', { exact: true }).fill('5')
  await says(/lr: 5\n/)
  await page.getByText('One gate refuses it.').waitFor()
  await keepViews(page, 'console-submit-refused')
  await becomes(t, () => submit.getAttribute('aria-disabled'), 'true')

  await yaml.fill((await yaml.inputValue()).replace('lr: 5', 'lr: 0.05 # by hand'))
  await becomes(t, () => page.getByLabel('lr', { exact: true }).inputValue(), '0.05')
  await page.getByLabel('epochs', { exact: true }).fill('2')
  await says(/epochs: 2\b/)
  await says(/# by hand/)
  await page.getByText(/^All \d+ gates pass\.$/).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await page.locator('button:not([aria-disabled])', { hasText: 'Submit' }).click()
  await page.waitForURL(/\/runs\/demo-1/)

  await page.goto(`${forge.url}/submit?from=demo-1`)
  await page.getByText('No differences yet.').waitFor()
  await page.getByLabel('epochs', { exact: true }).fill('3')
  const changed = page.getByRole('row', { name: /spec\.params\.epochs/ })
  await becomes(t, () => changed.getByRole('cell').allTextContents(), [
    ...['spec.params.epochs', '2', '3'],
  ])
  t.deepEqual(faults, [])
})
