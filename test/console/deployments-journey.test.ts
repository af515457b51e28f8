import test, { type ExecutionContext } from 'ava'
import type { Locator, Page } from 'playwright-core'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'
import { askWho, deployTwo, serveNamed } from './two-models.ts'

test('a revision is promoted knowing what changes, and rolled back; a token is shown once and rejected', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  const id = await deployTwo(forge, [await serveNamed(t, 'one'), await serveNamed(t, 'two')])
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/deployments`)
  await page.getByRole('main').getByRole('link', { name: 'tutor' }).click()
  await page.getByRole('heading', { name: 'tutor', level: 1 }).waitFor()
  const steps = page.getByRole('list', { name: 'Steps of revision 2' })
  await steps.getByText('ready').waitFor()

  await page.getByRole('button', { name: 'Promote: Revision 2' }).click()
  const dialog = page.getByRole('dialog', { name: 'Promote revision 2 of tutor' })
  await dialog.getByRole('cell', { name: 'serving.served_names' }).waitFor()
  await dialog.getByText('The two models share no benchmark.').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await dialog.getByLabel('Reason').fill('better at <b>algebra</b>')
  await dialog.getByRole('button', { name: 'Promote' }).click()
  const history = page.getByRole('group', { name: 'History' })
  await history.getByText('better at <b>algebra</b>').waitFor()

  const token = await newToken(page)
  const call = () => askWho(forge, id, token)
  t.true((await (await call()).text()).includes('I am two'))
  const requests = page.getByRole('group', { name: 'Requests now' })
  await requests.getByRole('cell', { name: 'web-app' }).waitFor()

  await page.getByRole('button', { name: 'Roll back' }).click()
  const back = page.getByRole('dialog', { name: 'Roll tutor back to revision 1' })
  await back.getByRole('button', { name: 'Roll back' }).click()
  await history.getByText('Revision 1 rolled back').waitFor()
  await until('requests go back', 20_000, async () =>
    (await (await call()).text()).includes('I am one'),
  )

  await allowOrigin(page)
  const preflight = await fetch(`${forge.url}/inference/${id}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
  })
  t.is(preflight.status, 204)

  await page.getByRole('button', { name: 'Revoke: web-app' }).click()
  const revoke = page.getByRole('dialog', { name: 'Revoke the token web-app' })
  await oneRequest(t, page, '**/tokens/*', revoke.getByRole('button', { name: 'Revoke' }))
  await page.getByText(/^Rejected at \d/).waitFor()
  await until('it is rejected', 20_000, async () => (await call()).status === 401)

  await page.getByLabel('Language').selectOption('Python')
  const snippet = page.getByRole('region', { name: 'Python' })
  t.true((await snippet.textContent())?.includes(`/inference/${id}/v1`))
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-deployment')
  await fits(page)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const deletion = page.getByRole('dialog', { name: 'Delete tutor' })
  await oneRequest(
    t,
    page,
    `**/api/deployments/${id}`,
    deletion.getByRole('button', { name: 'Delete' }),
  )
  await page.waitForURL('**/deployments')
  t.deepEqual(faults, [])
})

/** Presses a button that sends DELETE to an address: it is busy meanwhile, so that a second press sends nothing. */
async function oneRequest(
  t: ExecutionContext,
  page: Page,
  address: string,
  button: Locator,
): Promise<void> {
  const held = Promise.withResolvers<void>()
  let sent = 0
  await page.route(address, async route => {
    if (route.request().method() === 'DELETE') {
      sent++
      await held.promise
    }
    await route.continue()
  })
  await button.click()
  await until('it is busy', 20_000, async () => (await button.getAttribute('aria-busy')) === 'true')
  await button.click({ force: true })
  held.resolve()
  await button.waitFor({ state: 'detached' })
  t.is(sent, 1)
  await page.unroute(address)
}

/** Creates a token in the page, which shows it once. */
async function newToken(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'New token' }).click()
  const dialog = page.getByRole('dialog', { name: 'New token of tutor' })
  await dialog.getByLabel('Name').fill('web-app')
  await dialog.getByRole('button', { name: 'Create' }).click()
  const shown = page.getByRole('dialog', { name: 'The token web-app' })
  const token = await shown.locator('code').textContent()
  await shown.getByRole('button', { name: 'Close' }).click()
  await shown.waitFor({ state: 'detached' })
  return token ?? ''
}

/** Allows the pages of one origin. Its address with the standard port is refused first. */
async function allowOrigin(page: Page): Promise<void> {
  const panel = page.getByRole('region', { name: 'Web pages that may call it' })
  await panel.getByRole('button', { name: 'Change' }).click()
  const dialog = page.getByRole('dialog', { name: 'Web pages that may call tutor' })
  const origins = dialog.getByLabel(/^Origins/)
  await origins.fill('https://app.example:443')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Browsers call it https://app.example').waitFor()
  await origins.fill('https://app.example')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await panel.getByRole('listitem').getByText('https://app.example').waitFor()
}

test('two models answer the same prompt with the same seed, taken from a validation sample', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  const prompts: string[] = []
  const id = await deployTwo(forge, [
    await serveNamed(t, 'one', prompts),
    await serveNamed(t, 'two', prompts),
  ])
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  const samples = [{ user: 'What is 12 times 12?', assistant: '144', reward: 1 }]
  await ingest(forge, run, 'validation', { step: 1, samples, avg_reward: 1 })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/deployments/${id}`)
  await page.getByRole('link', { name: 'Try it' }).first().click()
  await page.getByRole('heading', { name: 'Playground' }).waitFor()
  await page.getByLabel('Right model').selectOption({ label: 'tutor, revision 1' })
  await page.getByLabel('Left model').selectOption({ label: 'tutor, revision 2' })
  await page.getByRole('timer').nth(1).waitFor()
  t.regex((await page.getByRole('timer').first().textContent()) ?? '', /^expires in \d/)

  await page.getByRole('button', { name: 'From a validation sample' }).click()
  const dialog = page.getByRole('dialog', { name: 'From a validation sample' })
  await dialog.getByRole('combobox', { name: 'Run' }).fill(run.short_id)
  await page.keyboard.press('Enter')
  await dialog.getByText('What is 12 times 12?').waitFor()
  await dialog.getByRole('listitem').getByRole('button', { name: 'Take it' }).click()
  await page.getByLabel('Seed').fill('7')
  prompts.length = 0
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('region', { name: 'revision 2' }).getByText('I am two').waitFor()
  await page.getByRole('region', { name: 'revision 1' }).getByText('I am one').waitFor()
  await page
    .getByText(/first token \d+ ms/)
    .nth(1)
    .waitFor()
  const asked = prompts.filter(one => one.includes('12 times 12'))
  t.is(asked.length, 2)
  t.is(new Set(asked.map(one => JSON.parse(one).seed)).size, 1)
  t.like(JSON.parse(asked[0] ?? ''), { seed: 7 })
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-playground')

  // A model that comes later, and a prompt that fails: each reply belongs to its own prompt.
  await page.getByRole('button', { name: 'Start over' }).click()
  await page.getByLabel('Right model').selectOption({ label: 'none' })
  const repliesOf = (name: string) =>
    page.getByRole('region', { name }).getByRole('list').getByRole('listitem').allInnerTexts()
  const send = async (prompt: string) => {
    await page.getByLabel('Prompt').fill(prompt)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  const shown = async (name: string) =>
    (await repliesOf(name)).map(text => text.split(/\n+/).slice(0, 2).join(': '))
  await send('first')
  await becomes(t, () => shown('revision 2'), ['first: I am two'])
  await send('please fail')
  const failure = page.getByRole('region', { name: 'revision 2' }).getByRole('alert')
  await failure.waitFor()
  prompts.length = 0
  await send('third')
  const atLeft = ['first: I am two', 'please fail: No reply', 'third: I am two']
  await becomes(t, () => shown('revision 2'), atLeft)
  const contents = () =>
    prompts
      .filter(one => one.includes('"stream":true'))
      .map(one => JSON.parse(one).messages.map(({ content }: { content: string }) => content))
  t.deepEqual(contents(), [['first', 'I am two', 'third']])
  await page.getByLabel('Right model').selectOption({ label: 'tutor, revision 1' })
  const atRight = ['first: No reply', 'please fail: No reply', 'third: I am one']
  await becomes(t, () => shown('revision 1'), atRight)
  t.deepEqual(contents().at(-1), ['third'])
  await send('please fail')
  await failure.waitFor()
  await page.getByRole('button', { name: 'Start over' }).click()
  await failure.waitFor({ state: 'detached' })
  t.deepEqual(faults, [])
})
