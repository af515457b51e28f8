import { failedName, lastError, liveName, project, soughtTag } from './data.ts'
import type { Setting, Ways } from './tasks.ts'

const renamed = 'sweep-lr0.01-b128-s7'
const chartView = 'label:has(input[value=CHART])'

/** Some charts have this many lines. */
const linesShown = (count: number) =>
  [...document.querySelectorAll('.js-plotly-plot')].filter(
    chart => chart.querySelectorAll('.js-line').length >= count,
  ).length >= 3

/** The id of the second experiment that is created; its own is 0. */
const experiment = 2

/** Removes the settings that earlier visits to an experiment left. */
const forget = () => {
  for (const key of Object.keys(localStorage))
    if (key.startsWith('MLflowLocalStorage')) localStorage.removeItem(key)
}

const openRun = (name: string) => async (setting: Setting) => {
  await mlflow.project(setting)
  await setting.page.getByRole('link', { name, exact: true }).click()
  await setting.page.getByRole('button', { name: 'Edit description' }).waitFor()
}

export const mlflow: Ways = {
  async prepare(page, address) {
    await page.addInitScript(forget)
    await page.goto(address)
    await page.getByText('Model training', { exact: true }).first().click()
    const close = page.getByRole('button', { name: 'Close', exact: true })
    await close.last().waitFor()
    for (let left = await close.count(); left > 0; left--) await close.last().click()
  },
  async home({ page, product }) {
    await page.goto(product.address)
    await page.getByRole('link', { name: project, exact: true }).waitFor()
  },
  async project(setting) {
    const { page, product } = setting
    await page.goto(`${product.address}/#/experiments/${experiment}/runs`)
    await page.getByRole('link', { name: liveName, exact: true }).waitFor()
  },
  ways: [
    {
      how: 'the experiment, chart view',
      open: setting => mlflow.home(setting),
      async act(hand) {
        await hand.click(hand.page.getByRole('link', { name: project, exact: true }))
        await hand.click(hand.page.locator(chartView))
        await hand.sees(linesShown, 10)
      },
    },
    {
      how: '*Sort*, `val/accuracy`: highest first; the first row',
      async act(hand, { best }) {
        await hand.click(hand.page.getByRole('button', { name: /^Sort/ }))
        await hand.click(hand.page.getByText('val/accuracy', { exact: true }).first())
        await hand.sees(
          name => document.querySelector('[row-index="0"] a')?.textContent === name,
          best,
        )
      },
    },
    {
      how: 'the box of all runs, *Compare*: parallel coordinates',
      lacks: 'no importance, and 100 of the runs: read from parallel coordinates',
      async act(hand) {
        await hand.click(hand.page.locator('[role=columnheader] input[type=checkbox]').first())
        await hand.click(hand.page.getByRole('button', { name: 'Compare', exact: true }))
        await hand.sees(
          () => document.querySelectorAll('.js-plotly-plot .y-axis').length >= 4,
          null,
        )
      },
    },
    {
      how: '*Group by*, `seed`, chart view',
      lacks: 'means of 100 of the runs, no standard deviation',
      async act(hand) {
        await hand.click(hand.page.getByRole('button', { name: 'Group by', exact: true }))
        await hand.click(hand.page.getByText('seed', { exact: true }).last())
        await hand.click(hand.page.locator(chartView))
        await hand.sees(
          () => document.querySelectorAll('.js-plotly-plot .js-line').length >= 10,
          null,
        )
      },
    },
    {
      how: 'the boxes of three runs, *Compare* (what differs), `train/loss` (curves)',
      async act(hand, { compared }) {
        for (const name of compared)
          await hand.click(
            hand.page
              .getByRole('row')
              .filter({ has: hand.page.getByRole('link', { name, exact: true }) })
              .locator('input[type=checkbox]')
              .first(),
          )
        await hand.click(hand.page.getByRole('button', { name: 'Compare', exact: true }))
        await hand.click(hand.page.getByRole('link', { name: 'train/loss', exact: true }))
        await hand.sees(
          () => document.querySelectorAll('.js-plotly-plot .js-line').length >= 3,
          null,
        )
      },
    },
    {
      how: `the search, \`tags.${soughtTag} = 'true'\`, Enter`,
      async act(hand) {
        await hand.click(hand.page.getByPlaceholder(/^metrics.rmse/))
        await hand.type(`tags.${soughtTag} = 'true'`, 'Enter')
        await hand.sees(
          () =>
            /^1 matching run/.test(
              document.body.innerText.split('\n').find(line => line.includes('matching run')) ?? '',
            ),
          null,
        )
      },
    },
    {
      how: 'the failed run, *Artifacts*, `output.log`, which its code has to upload',
      async act(hand) {
        await hand.click(hand.page.getByRole('link', { name: failedName, exact: true }))
        await hand.click(hand.page.getByRole('tab', { name: 'Artifacts' }))
        await hand.click(hand.page.getByText('output.log').first())
        await hand.seesText(hand.page.getByText(lastError))
      },
    },
    {
      how: 'the run; menu, *Rename*, name, *Save*; tags’ pen, key, Enter, value, +, *Save tags*; description’s pen, field, text, *Save*',
      async act(hand, { nth }) {
        const { page } = hand
        await hand.click(page.getByRole('link', { name: renamed, exact: true }))
        await hand.click(page.getByRole('button', { name: 'Open header dropdown menu' }))
        await hand.click(page.getByText('Rename', { exact: true }))
        await page.getByLabel('New run name').waitFor()
        await hand.replace(`renamed-${nth}`)
        await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Save' }))
        await page.getByText(`renamed-${nth}`).first().waitFor()
        await hand.click(page.getByRole('button', { name: 'Edit tags' }))
        await hand.click(page.getByRole('dialog').getByRole('combobox').first())
        await hand.type(`tagged-${nth}`, 'Enter')
        await hand.click(page.getByPlaceholder('Type a value'))
        await hand.type('true')
        await hand.click(page.getByRole('button', { name: 'Add tag' }))
        await hand.click(page.getByRole('button', { name: 'Save tags' }))
        await page.getByRole('dialog').waitFor({ state: 'hidden' })
        await hand.click(page.getByRole('button', { name: 'Edit description' }))
        await hand.click(page.locator('textarea.mde-text'))
        await hand.type(`noted ${nth}`)
        await hand.click(page.getByRole('button', { name: 'Save', exact: true }).first())
        await hand.seesText(page.locator('p').getByText(`noted ${nth}`))
      },
      async undo({ page, product }) {
        const run_id = page.url().split('/runs/')[1]?.split(/[/?]/)[0] ?? ''
        const post = (path: string, data: object) =>
          page.request.post(`${product.address}/api/2.0/mlflow/runs/${path}`, { data })
        await post('update', { run_id, run_name: renamed })
        await post('set-tag', { run_id, key: 'mlflow.note.content', value: '' })
      },
    },
    {
      how: 'the page of the run’s metrics is open',
      async open(setting) {
        await openRun(liveName)(setting)
        await setting.page.getByRole('tab', { name: 'Model metrics' }).click()
        await setting.page.locator('.js-plotly-plot').first().waitFor()
      },
      async act(hand, { nth, product }) {
        hand.start()
        await product.log(1000 + nth)
        // Its axis reaches the new step, or value.
        await hand.sees(
          highest =>
            [...document.querySelectorAll('.js-plotly-plot')].some(plot => {
              const { data = [] } = plot as unknown as { data?: { x?: number[] }[] }
              return data.some(({ x = [] }) => Math.max(...x) >= highest)
            }),
          1000 + nth,
        )
      },
    },
    {
      how: '*Models*, the model, *Register model*, list, `classifier`, *Register*',
      async act(hand) {
        const { page } = hand
        await hand.click(page.getByRole('link', { name: 'Models', exact: true }))
        await hand.click(page.getByRole('link', { name: 'checkpoint', exact: true }))
        await hand.click(page.getByRole('button', { name: /^Register model/ }).first())
        await hand.click(page.getByRole('dialog').getByRole('combobox').first())
        await hand.click(page.getByText('classifier', { exact: true }).last())
        await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Register' }))
        await hand.seesText(page.getByRole('link', { name: /classifier/ }))
      },
    },
  ],
}
