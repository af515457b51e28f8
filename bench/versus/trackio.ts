import { lastError, liveName, project } from './data.ts'
import type { Ways } from './tasks.ts'

const renamed = 'sweep-lr0.01-b128-s7'
const canvases = (count: number) => document.querySelectorAll('canvas').length >= count

export const trackio: Ways = {
  /** The address carries the right to change runs, which it then keeps. */
  async prepare(page, address) {
    await page.goto(address)
    await page.getByRole('listbox', { name: 'Project' }).waitFor()
  },
  async home({ page, product }) {
    await page.goto(product.address)
    await page.getByText('another-4').first().waitFor()
  },
  /** It draws all runs for a minute or two; nobody waits for them with another question. */
  async project({ page, product }) {
    await page.goto(`${new URL(product.address).origin}/?project=${project}`)
    await page.getByText('Runs (202)').waitFor()
  },
  ways: [
    {
      how: 'the list of projects, the project: all runs are drawn',
      open: setting => trackio.home(setting),
      async act(hand) {
        await hand.click(hand.page.getByRole('listbox', { name: 'Project' }))
        await hand.click(hand.page.getByRole('option', { name: project }))
        await hand.page.getByText('Runs (202)').waitFor()
        await hand.sees(canvases, 3)
      },
    },
    'no list of runs has metrics',
    'no view of hyperparameters',
    'groups select runs; no means',
    {
      how: 'the box of all runs, those of three runs, *Show run comparer*',
      async act(hand, { compared }) {
        const { page } = hand
        await hand.click(page.getByLabel('Runs (202)'))
        for (const name of compared) await hand.click(page.getByText(name, { exact: true }).first())
        await hand.click(page.getByText('Show run comparer'))
        await page.locator('.run-comparer').getByText('batch_size').waitFor()
        await hand.sees(canvases, 1)
      },
    },
    {
      how: 'the field above the runs, a part of the name',
      lacks: 'there are no tags: by name',
      async act(hand) {
        await hand.click(hand.page.getByPlaceholder('Type to filter...'))
        await hand.type('lr0.003-b16-s8')
        await hand.seesText(hand.page.getByText('Runs (1)'))
      },
    },
    {
      how: 'the alert that the code raised, which is on the page',
      lacks: 'no logs: what the code puts into an alert',
      async act(hand) {
        await hand.click(hand.page.getByText(lastError).first())
        await hand.seesText(hand.page.getByText('File "train.py", line 61'))
      },
    },
    {
      how: '*Runs*, the pen of the run, name, Enter',
      lacks: 'no tags, no notes',
      async act(hand, { nth }) {
        await hand.click(hand.page.getByRole('button', { name: 'Runs', exact: true }))
        const row = hand.page.getByRole('row').filter({ hasText: renamed })
        await hand.click(row.getByTitle('Rename'))
        await hand.replace(`renamed-${nth}`, 'Enter')
        await hand.seesText(hand.page.getByRole('row').getByText(`renamed-${nth}`))
      },
      async undo({ page, nth }) {
        const row = page.getByRole('row').filter({ hasText: `renamed-${nth}` })
        await row.getByTitle('Rename').click()
        await page.keyboard.press('Control+A')
        await page.keyboard.type(renamed)
        await page.keyboard.press('Enter')
        await page.getByRole('row').getByText(renamed).waitFor()
      },
    },
    {
      how: 'the project with the live run alone is open',
      async open({ page, product }) {
        await page.goto(`${new URL(product.address).origin}/?project=${project}`)
        await page.getByLabel('Runs (202)').click()
        await page.getByText(liveName, { exact: true }).first().click()
        await page.waitForFunction(canvases, 3)
      },
      async act(hand, { nth, product }) {
        // Its charts are pictures: a new one is drawn when there are new points.
        const before = await hand.page.locator('canvas').first().evaluate(pictureOf)
        hand.start()
        await product.log(1000 + nth)
        await hand.sees(
          (old: string) =>
            (document.querySelector('canvas') as HTMLCanvasElement | null)?.toDataURL() !== old,
          before,
        )
      },
    },
    'registries are read-only in its pages',
  ],
}

const pictureOf = (canvas: Element) => (canvas as HTMLCanvasElement).toDataURL()
