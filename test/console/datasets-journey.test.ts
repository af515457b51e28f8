import test, { type ExecutionContext } from 'ava'
import type { Locator, Page } from 'playwright-core'
import { parse, stringify } from 'yaml'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, createPerson, fits, keepViews, openSignedIn } from './browse.ts'

const turn = (question: string, answer: string) => ({
  messages: [
    { role: 'system', content: 'You are a patient teacher.' },
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ],
  source: 'book-1',
})
const jsonl = (...rows: object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')
const sums = Array.from({ length: 60 }, (_, n) => turn(`What is ${n} + ${n}?`, `It is ${2 * n}.`))
const long = turn('Explain addition.', 'To add is to join. '.repeat(200))

const file = (name: string, content: string) => ({
  ...{ name, mimeType: 'application/jsonl', buffer: Buffer.from(content) },
})
const testFile = file('test.jsonl', jsonl(...sums.slice(0, 3), turn('What is 7 + 1?', '8.')))
const broken = file(
  'train.jsonl',
  jsonl(...sums.slice(0, 2)) +
    '{"messages": [{"role": "user", "content": "What is 3 + 3?"}}\n' +
    jsonl({ messages: [{ role: 'user', content: 'What is 4 + 4?' }] }, ...sums.slice(5)),
)
const corrected = file('train.jsonl', jsonl(...sums, long, ...sums.slice(0, 2)))

/** Adds a dataset to the job of the page, as a person would type it. */
async function useDataset(page: Page, ref: string): Promise<void> {
  const yaml = page.getByLabel('job.yaml')
  await yaml.waitFor()
  // The recipe fills it in once it has arrived.
  const text = await until(
    'the job is written',
    20_000,
    async () => (await yaml.inputValue()) || null,
  )
  const job = parse(text)
  job.spec = { ...job.spec, datasets: [{ as: 'train', ref, split: 'train', weight: 1 }] }
  await yaml.fill(stringify(job))
}

/** Fits and is accessible wide and narrow; the page is wide afterwards. */
async function looksRight(t: ExecutionContext, page: Page, name: string): Promise<void> {
  await keepViews(page, name)
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    await fits(page)
    t.deepEqual(await axeFinds(page), [], `${name}, ${width} wide`)
  }
}

const rowOf = (panel: Locator, text: string | RegExp) =>
  panel.getByRole('row').filter({ hasText: text })

test('a broken dataset is corrected by its lines, granted, and used by a run that was refused before', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  await createPerson(forge, 'ada')
  await createPerson(forge, 'grace')
  // Its runs are admitted, and wait.
  await forge.call('PUT', '/api/admin/queue', { body: { paused: true } })
  const { page, faults, call } = await openSignedIn(t, forge, 'ada')
  const region = (name: string | RegExp) => page.getByRole('region', { name })

  await page.goto(`${forge.url}/datasets`)
  await page.getByText('No datasets yet').waitFor()
  await page.getByText(/^forge dataset push/).waitFor()
  await page.getByRole('button', { name: 'Upload a dataset' }).click()
  const upload = page.getByRole('dialog', { name: 'Upload a dataset' })
  const choose = upload.getByLabel('Files')
  await choose.setInputFiles([file('tr ain.jsonl', 'x')])
  await upload.getByText('tr ain.jsonl: names of files have letters').waitFor()
  await choose.setInputFiles([broken, testFile])
  await upload.getByLabel('Name').fill('sums')
  await upload.getByLabel('License').fill('apache-2.0')
  await looksRight(t, page, 'console-dataset-upload')

  // A request that never ends is cancelled.
  await page.route(
    url => url.pathname.startsWith('/api/uploads/'),
    async route => {
      if (route.request().method() !== 'PUT') await route.continue()
    },
  )
  const send = upload.getByRole('button', { name: 'Upload a dataset' })
  await send.click()
  await upload.getByRole('progressbar', { name: 'train.jsonl' }).waitFor()
  await upload.getByRole('button', { name: 'Cancel' }).click()
  await upload.getByRole('progressbar').waitFor({ state: 'detached' })
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await send.click()

  await page.waitForURL(/\/datasets\/ada\/sums\?version=1$/)
  await region('2 errors').waitFor()
  t.regex(await rowOf(region('2 errors'), 'train.jsonl').nth(0).innerText(), /\b3$/)
  t.regex(await rowOf(region('2 errors'), 'train.jsonl').nth(1).innerText(), /\b4$/)
  t.is(await region('Rows').count(), 0)
  await looksRight(t, page, 'console-dataset-invalid')

  await page.getByRole('button', { name: 'Push a version' }).click()
  const push = page.getByRole('dialog', { name: 'Push a version of ada/sums' })
  await push.getByLabel('Files').setInputFiles([corrected, testFile])
  await push.getByRole('button', { name: 'Push a version' }).click()
  await page.waitForURL(/version=2$/)
  const figures = region('ada/sums@2')
  await figures.getByText(/^In (test and train|train and test)$/).waitFor()
  t.regex(await figures.innerText(), /Rows\s+67\b[\s\S]+Duplicates\s+5\b[\s\S]+In .*\s+3\b/)
  await figures
    .getByRole('img', { name: /^Characters per row: 42 to 3,843, 107 on average$/ })
    .waitFor()
  const rows = region('Rows')
  await rows.getByText('What is 0 + 0?').waitFor()
  t.is(await rows.getByText('assistant').count(), 10)
  await rows.getByRole('button', { name: 'Next rows' }).click()
  await rows.getByText('What is 10 + 10?').waitFor()
  await rows.getByRole('button', { name: 'Previous rows' }).waitFor({ state: 'detached' })
  await rows.getByRole('button', { name: 'First rows' }).click()
  await rows.getByLabel('Containing').fill('EXPLAIN')
  await rows.getByRole('button', { name: 'Search' }).click()
  await page.waitForURL(/q=EXPLAIN/)
  await rows.getByText('Row 61 of 63 rows').waitFor()
  await rows.getByRole('button', { name: /^Show all .* characters/ }).click()
  await rows.getByRole('button', { name: /^Show all/ }).waitFor({ state: 'detached' })
  await rows.getByLabel('Containing').fill('')
  await rows.getByRole('button', { name: 'Search' }).click()
  await rows.getByLabel('Split').selectOption('test')
  await rows.getByText('Row 4 of 4 rows').waitFor()

  await page.getByRole('button', { name: 'Edit' }).click()
  const card = page.getByRole('textbox', { name: 'Card' })
  await card.fill('# Sums\n\nFrom *book 1*.')
  // Somebody else writes meanwhile, and is replaced only after a warning.
  const dataset = '/api/datasets/ada/sums'
  await call('PATCH', dataset, { body: { card: 'From *book 2*.' } })
  await card.press('Control+Enter')
  await region('Card').getByText('Somebody has changed this text since').waitFor()
  t.is((await call<{ card: string }>('GET', dataset)).body.card, 'From *book 2*.')
  await card.press('Control+Enter')
  await region('Card').getByRole('heading', { name: 'Sums' }).waitFor()
  const snippet = await region('Use from Python')
    .getByRole('region', { name: 'Python' })
    .innerText()
  t.true(snippet.includes(`HF_ENDPOINT=${forge.url}/api/hub`), snippet)
  t.regex(snippet, /"ada\/sums",\s+repo_type="dataset",\s+revision="v2"/)
  const download = page.waitForEvent('download')
  await region('Files').getByRole('button', { name: 'Download test.jsonl' }).click()
  t.is((await download).suggestedFilename(), 'test.jsonl')

  const grace = await openSignedIn(t, forge, 'grace')
  const submit = `${forge.url}/submit?recipe=digits@1.0.0`
  await grace.page.goto(submit)
  await useDataset(grace.page, 'ada/sums@2')
  await grace.page.getByText('One gate refuses it.').waitFor()
  const grants = region('Grants')
  const grant = async (level: string) => {
    await grants.getByLabel('Username').fill('grace')
    await grants.getByLabel('Access').selectOption({ label: level })
    await grants.getByRole('button', { name: 'Grant', exact: true }).click()
    await grants.getByRole('cell', { name: level, exact: true }).waitFor()
  }
  await grant('see')
  await grace.page.goto(`${forge.url}/datasets`)
  await grace.page.getByRole('link', { name: 'ada/sums@2' }).click()
  await grace.page.getByText('not read its rows or files. Ask ada').waitFor()
  t.is(await grace.page.getByRole('button', { name: /Download|Edit|Delete/ }).count(), 0)
  await looksRight(t, grace.page, 'console-dataset-seen')
  await grace.page.goto(submit)
  await useDataset(grace.page, 'ada/sums@2')
  await grace.page.getByText('One gate refuses it.').waitFor()
  await grace.page.getByText(/may see .*ada\/sums.* not use/).waitFor()
  await grant('see and use')
  await grace.page.goto(submit)
  await useDataset(grace.page, 'ada/sums@2')
  await grace.page.getByText(/^All \d+ gates pass\.$/).waitFor()
  await grace.page.locator('button:not([aria-disabled])', { hasText: 'Submit' }).click()
  await grace.page.waitForURL(/\/runs\/demo-1/)
  t.deepEqual(grace.faults, [])

  await page.goto(`${forge.url}/datasets/ada/sums`)
  await region('Rows').getByText('What is 0 + 0?').waitFor()
  await looksRight(t, page, 'console-dataset')
  await page.getByRole('button', { name: 'Withdraw: grace' }).click()
  await grants.getByText('Nobody has a grant.').waitFor()
  await page.getByRole('button', { name: 'Deprecate' }).click()
  const deprecate = page.getByRole('dialog', { name: 'Deprecate ada/sums@2' })
  await deprecate.getByLabel('Reason').fill('sums only')
  await deprecate.getByRole('button', { name: 'Deprecate' }).click()
  await page.getByText('Deprecated: sums only').waitFor()

  await page.getByRole('link', { name: 'Version 1' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  const removal = page.getByRole('dialog', { name: 'Delete ada/sums@1' })
  await removal.getByText('No run or version that you may read names it.').waitFor()
  await removal.getByRole('button', { name: 'Delete' }).click()
  await removal.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Version 1' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Version 2' }).waitFor()

  await page.goto(`${forge.url}/notifications`)
  await page.getByRole('link', { name: 'ada/sums@2 is ready' }).click()
  await page.waitForURL(/\/datasets\/ada\/sums\?version=2$/)
  await page.goto(`${forge.url}/datasets`)
  await page.getByLabel('Search by name').fill('nothing')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('No dataset matches this search.').waitFor()
  await page.getByLabel('Search by name').fill('SUM')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByLabel('Owner').selectOption('Mine')
  await page.waitForURL(/owner=ada/)
  await becomes(t, () => page.getByRole('table').getByRole('row').count(), 2)
  await looksRight(t, page, 'console-datasets')
  t.deepEqual(faults, [])
})

test('an upload survives a broken connection, and a deletion lists the runs that it would break', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t)
  await forge.call('PUT', '/api/admin/queue', { body: { paused: true } })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/datasets`)
  await page.getByRole('button', { name: 'Upload a dataset' }).click()
  const upload = page.getByRole('dialog', { name: 'Upload a dataset' })
  await upload.getByLabel('Files').setInputFiles([corrected])
  await upload.getByLabel('Name').fill('sums')
  let requests = 0
  await page.route(
    url => url.pathname.startsWith('/api/uploads/'),
    async route => {
      const isFirst = route.request().method() === 'PUT' && ++requests === 1
      await (isFirst ? route.abort('connectionreset') : route.continue())
    },
  )
  await upload.getByRole('button', { name: 'Upload a dataset' }).click()
  await page.getByRole('region', { name: 'Rows' }).waitFor()
  t.is(requests, 3, 'it asks how much has arrived, and sends the rest')
  await page.getByRole('button', { name: 'Push a version' }).click()
  const push = page.getByRole('dialog', { name: 'Push a version of admin/sums' })
  await push.getByLabel('Files').setInputFiles([corrected])
  await push.getByRole('button', { name: 'Push a version' }).click()
  await page.getByText('The newest version has the same files; no version was made.').waitFor()
  await page.goto(`${forge.url}/submit?recipe=digits@1.0.0`)
  await useDataset(page, 'admin/sums')
  await page.getByText(/^All \d+ gates pass\.$/).waitFor()
  await page.locator('button:not([aria-disabled])', { hasText: 'Submit' }).click()
  await page.waitForURL(/\/runs\/demo-1/)

  await page.goto(`${forge.url}/datasets/admin/sums`)
  const uses = page.getByRole('region', { name: 'Used by' })
  await uses.getByRole('link').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  const removal = page.getByRole('dialog', { name: 'Delete admin/sums@1' })
  await removal.getByText('These can no longer be reproduced:').waitFor()
  t.is(await removal.getByRole('link').count(), 1)
  await looksRight(t, page, 'console-dataset-delete')
  await removal.getByRole('button', { name: 'Delete anyway' }).click()
  await removal.getByText(/is in use by .*not ended/).waitFor()
  await removal.getByRole('button', { name: 'Cancel' }).click()
  t.deepEqual(faults, [])
})
