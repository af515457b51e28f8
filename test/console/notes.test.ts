import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, becomes, keepViews, openSignedIn } from './browse.ts'

const shared = sharedForge()

const text = `# Findings

Diverges after a **warm restart**; ask @ada.l, not ada@example.com.

- lr \`3e-4\`
- [x] seed fixed

| seed | loss |
|---|---|
| 1 | 0.5 |

See [the paper](https://example.com/paper) or [this](javascript:alert(1)), ![plot](https://example.com/plot.png)
<img src=x onerror=alert(1)> <script>alert(1)</script>

中文 🚀 admin\u202etxt.exe
`

test('notes are written in Markdown by keyboard, and nothing in them acts', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const { page, faults } = await openSignedIn(t, forge)
  const fetched: string[] = []
  page.on('request', request => fetched.push(request.url()))
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  const notes = page.getByRole('region', { name: 'Notes' })
  await notes.getByRole('button', { name: 'Add notes' }).press('Enter')
  const field = page.getByLabel('Notes', { exact: true }).and(page.getByRole('textbox'))
  await field.press('Escape')
  await becomes(t, () => page.evaluate(() => document.activeElement?.textContent), 'Add notes')
  await page.keyboard.press('Enter')
  await field.fill(text)
  await field.press('Escape')
  await becomes(t, () => field.inputValue(), text, 'a draft is not thrown away by a key')
  t.deepEqual(await axeFinds(page), [])
  await field.press('Control+Enter')

  await notes.getByRole('heading', { name: 'Findings' }).waitFor()
  await becomes(t, () => page.evaluate(() => document.activeElement?.textContent), 'Edit')
  const { body } = await forge.call<{ notes: string }>('GET', `/api/runs/${run.run_id}`)
  t.is(body.notes, text.trim())
  await notes.locator('strong', { hasText: 'warm restart' }).waitFor()
  await becomes(t, () => notes.locator('[class*=mention]').allTextContents(), ['@ada.l'])
  t.deepEqual(
    await notes
      .getByRole('link')
      .evaluateAll(all =>
        all.map(one => [one.textContent, one.getAttribute('href'), one.getAttribute('rel')]),
      ),
    [
      ['ada@example.com', 'mailto:ada@example.com', 'noopener noreferrer nofollow'],
      ['the paper', 'https://example.com/paper', 'noopener noreferrer nofollow'],
      ['plot', 'https://example.com/plot.png', 'noopener noreferrer nofollow'],
    ],
  )
  await notes.getByText('<img src=x onerror=alert(1)>').waitFor()
  await notes.getByText('admin⟨202e⟩txt.exe').waitFor()
  await notes.getByRole('cell', { name: '0.5' }).waitFor()
  t.is(await notes.locator('img, script').count(), 0)
  t.deepEqual(
    fetched.filter(url => !url.startsWith(forge.url)),
    [],
  )
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'run-notes')

  // Another person writes meanwhile.
  await notes.getByRole('button', { name: 'Edit' }).click()
  await forge.call('PATCH', `/api/runs/${run.run_id}`, { body: { notes: '>'.repeat(16_000) } })
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await notes.getByText('Somebody has changed this text since').waitFor()
  await notes.getByRole('button', { name: 'Cancel' }).click()
  await notes.getByRole('button', { name: 'Edit' }).waitFor()
  await page.getByRole('heading', { name: 'Hyperparameters' }).waitFor()
  t.deepEqual(faults, [])
})

test('the first load has no Markdown in it', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const { page, faults } = await openSignedIn(t, forge)
  const loaded: string[] = []
  page.on('request', request => {
    if (request.url().endsWith('.js')) loaded.push(request.url())
  })
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  await page.getByRole('button', { name: 'Add notes' }).waitFor()
  const isMarkdown = (url: string) => url.includes('markdown-view')
  t.false(loaded.some(isMarkdown))
  await forge.call('PATCH', `/api/runs/${run.run_id}`, { body: { notes: '*here*' } })
  await page.reload()
  await page.locator('em', { hasText: 'here' }).waitFor()
  t.true(loaded.some(isMarkdown))
  t.deepEqual(faults, [])
})
