import test from 'ava'
import type { AnnotationDetail } from '../../schemas/annotations.ts'
import { createQueue, runWithPairs } from '../annotations/queues.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { createPerson, looksRight, openSignedIn } from './browse.ts'

const prompts = 20

test('20 items are annotated by keyboard alone; a late answer comes back as a draft', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  const { run_id } = await runWithPairs(forge, { project: 'judged', prompts })
  await createPerson(forge, 'ada')
  await forge.call('PUT', '/api/projects/judged/members/ada', { body: { role: 'member' } })
  const source = { type: 'samples', run_id } as const
  const made = await createQueue(forge, {
    ...{ name: 'Which is better?', project: 'judged', kind: 'pairwise', source },
    instructions: 'Choose the **good** one.',
  })
  t.is(made.body.items, prompts)
  const { queue_id } = made.body
  const { page, faults, call } = await openSignedIn(t, forge, 'ada')
  const progress = async () =>
    (await call<AnnotationDetail>('GET', `/api/annotations/${queue_id}`)).body

  await page.goto(`${forge.url}/annotations`)
  await page.getByRole('link', { name: 'Which is better?' }).waitFor()
  await looksRight(t, page, 'console-annotations')
  await page.goto(`${forge.url}/annotations/${queue_id}`)
  await page.getByText('0 of 20 items').waitFor()
  await page.getByRole('link', { name: 'Annotate' }).focus()
  await page.keyboard.press('Enter')

  const item = (nth: number) => page.getByRole('article', { name: `Item ${nth}`, exact: true })
  await item(1).waitFor()
  await item(1).getByText('Question 0?').waitFor()
  await item(1)
    .getByText(/yours for 1[45]:/)
    .waitFor()
  await looksRight(t, page, 'console-annotation-pair')
  for (let nth = 1; nth <= prompts; nth++) {
    await item(nth).waitFor()
    const first = await item(nth)
      .getByRole('region')
      .or(item(nth).locator('section'))
      .nth(1)
      .innerText()
    await page.keyboard.press(first.includes('Good') ? '1' : '2')
  }
  await page.getByText('Nothing is left for you in this queue.').waitFor()
  t.like(await progress(), { completed: prompts, answers: prompts })

  await page.keyboard.press('u')
  await item(prompts).waitFor()
  await item(prompts).getByText('Your draft').waitFor()
  t.like(await progress(), { completed: prompts - 1 })
  await forge.pool.query(
    `update write.annotation_claim set expires_at = now() - interval '1 second' where state = 'claimed'`,
  )
  await page.keyboard.press('0')
  await page.getByText('The 15 minutes were over. Your answer is kept as a draft').waitFor()
  await item(prompts).getByText('Neither is better 0 · Your draft').waitFor()
  t.like(await progress(), { completed: prompts - 1 })
  await page.keyboard.press('s')
  await page.getByText('Nothing is left for you in this queue.').waitFor()
  t.like(await progress(), { completed: prompts - 1, skips: 1 })
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('Annotation: choose').waitFor()
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Back to the queue' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('19 of 20 items').waitFor()
  await page.getByText('Against the judge (19 items): Equal 1.00').waitFor()
  await looksRight(t, page, 'console-annotation-queue')
  t.deepEqual(faults, [])
})

test('criteria are scored by digits and texts are corrected, by keyboard', async t => {
  t.timeout(patient(180_000))
  const forge = await startForge(t)
  const { run_id } = await runWithPairs(forge, { project: 'judged', prompts: 1 })
  const criteria = [
    { name: 'correct', weight: 2, description: 'What it says is true.' },
    { name: 'clear', weight: 1 },
  ]
  await forge.call('PUT', '/api/rubrics/admin/helpful', {
    body: { name: 'helpful', criteria, scale_max: 4 },
  })
  const source = { type: 'samples', run_id } as const
  const rubric = await createQueue(forge, {
    ...{ project: 'judged', kind: 'rubric', source, rubric: 'admin/helpful@1' },
  })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/annotations`)
  await page.getByRole('button', { name: 'New queue' }).click()
  const dialog = page.getByRole('dialog', { name: 'New annotation queue' })
  await dialog.getByLabel('What people decide').fill('Correct them')
  await dialog.getByLabel('What people do').selectOption('rubric')
  await dialog.getByLabel('Rubric', { exact: true }).selectOption('admin/helpful@1')
  await dialog.getByLabel('Items from').selectOption('dataset')
  await dialog.getByLabel('Dataset and version').fill('admin/none')
  await dialog.getByRole('button', { name: 'Create the queue' }).click()
  await dialog.getByRole('alert').getByText('OWNER/NAME@VERSION').waitFor()
  await looksRight(t, page, 'console-annotation-new')
  await dialog.getByLabel('What people do').selectOption('edit')
  await dialog.getByLabel('Items from').selectOption('samples')
  await dialog.getByLabel('Run', { exact: true }).fill(run_id)
  await dialog.getByRole('button', { name: 'Create the queue' }).click()
  await page.getByRole('heading', { name: 'Correct them' }).waitFor()
  await page.getByText('One person answers each item').waitFor()
  const made = page.url().split('/').at(-1) ?? ''
  const item = (nth: number) => page.getByRole('article', { name: `Item ${nth}`, exact: true })
  const answers = async (queue_id: string) => {
    const { rows } = await forge.pool.query(
      `select answer from write.annotation_claim where queue_id = $1 and state = 'answered' order by item`,
      [queue_id],
    )
    return rows.map(({ answer }) => answer)
  }

  await page.goto(`${forge.url}/annotations/${rubric.body.queue_id}/work`)
  await item(1).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('3')
  await page.keyboard.press('1')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('4')
  await looksRight(t, page, 'console-annotation-rubric')
  await page.keyboard.press('Enter')
  await item(2).waitFor()
  t.deepEqual(await answers(rubric.body.queue_id), [
    { choice: null, text: null, scores: { correct: 4, clear: 1 } },
  ])

  await page.goto(`${forge.url}/annotations/${made}/work`)
  await item(1).waitFor()
  await page.keyboard.press('e')
  await page.keyboard.press('End')
  await page.keyboard.type(' sure')
  await page.keyboard.press('Escape')
  await looksRight(t, page, 'console-annotation-edit')
  await page.keyboard.press('Enter')
  await item(2).waitFor()
  await page.keyboard.press('e')
  await page.keyboard.type('s')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Nothing is left for you in this queue.').waitFor()
  await until('both are stored', 20_000, async () => (await answers(made)).length === 2)
  t.like(await answers(made), [{ text: 'Good answer 0. sure' }, { text: 'sBad answer 0.' }])
  t.deepEqual(faults, [])
})
