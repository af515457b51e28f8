import { adminPassword, askApi, signIn } from '../../test/servers/api.ts'
import { untilDrawn } from '../console/screen.ts'
import { failedName, liveName, project, sampleRuns, soughtTag } from './data.ts'
import type { Setting, Ways } from './tasks.ts'

const named = { name: project, exact: true } as const
const renamed = 'sweep-lr0.01-b128-s7'

/** Every chart in view has this many lines. */
const chartsHave = (lines: number) => {
  const charts = [...document.querySelectorAll('figure[aria-busy]')]
  return (
    charts.length >= 3 &&
    charts.every(chart => chart.getAttribute('aria-busy') === 'false') &&
    charts.every(
      chart => chart.querySelector('canvas') && chart.textContent?.includes(`${lines} lines`),
    )
  )
}

const open = async ({ page, product }: Setting, path: string) => {
  await page.goto(`${product.address}${path}`)
}

const openRun = (name: string, tab: string) => async (setting: Setting) => {
  const { page } = setting
  await open(setting, `/projects/${project}`)
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('link', { name: tab, exact: true }).click()
}

export const forge: Ways = {
  async prepare(page, address) {
    const data = { username: 'admin', password: adminPassword }
    await page.request.post(`${address}/api/auth/login`, { data })
  },
  async home(setting) {
    await open(setting, '/')
    await setting.page.getByRole('heading', { name: 'Running' }).waitFor()
  },
  async project(setting) {
    await open(setting, `/projects/${project}`)
    await untilDrawn(setting.page, chartsHave, 10)
  },
  ways: [
    {
      how: '*Projects*, the project',
      open: setting => forge.home(setting),
      async act(hand) {
        await hand.click(hand.page.getByRole('link', { name: 'Projects', exact: true }).first())
        await hand.click(hand.page.locator('main').getByRole('link', named))
        await hand.sees(chartsHave, 10)
      },
    },
    {
      how: '*Sort by*: `val/loss`, lowest first; the first row',
      async act(hand, { best }) {
        await hand.choose(hand.page.getByLabel('Sort by'), 'val/loss, lowest first')
        await hand.sees(
          name => document.querySelector('main [role=row] a')?.textContent?.includes(name) === true,
          best,
        )
      },
    },
    {
      how: 'the menu of the chart of `val/loss`, *Importance of hyperparameters*',
      async act(hand) {
        await hand.click(hand.page.getByRole('button', { name: 'Actions: val/loss' }))
        await hand.click(hand.page.getByRole('menuitem', { name: 'Importance of hyperparameters' }))
        const shares = hand.page.getByRole('list', { name: /^Importance of hyperparameters/ })
        await hand.seesText(shares.getByText(/^lr/))
      },
    },
    {
      how: '*Group by*: `seed`; the list has the mean ± std of each group, the charts its mean',
      async act(hand) {
        await hand.choose(hand.page.getByLabel('Group by'), 'seed')
        await hand.page
          .getByRole('list', { name: 'Groups of runs' })
          .getByText(/±/)
          .first()
          .waitFor()
        await hand.sees(chartsHave, 11)
      },
    },
    {
      how: '*None*, the boxes of three runs, *Compare*: parallel coordinates of what differs, above the curves',
      async act(hand, { compared }) {
        await hand.click(hand.page.getByRole('button', { name: 'None', exact: true }))
        for (const name of compared)
          await hand.click(hand.page.getByLabel(new RegExp(`^Show ${name} `)))
        await hand.click(hand.page.getByRole('link', { name: 'Compare', exact: true }))
        await hand.page.getByRole('region', { name: 'Pinned' }).locator('figure').first().waitFor()
        await hand.sees(
          () =>
            [...document.querySelectorAll('figure[aria-busy=false]')].filter(
              one => one.querySelector('canvas') && one.textContent?.includes('3 lines'),
            ).length >= 1,
          null,
        )
      },
    },
    {
      how: `the search, \`${soughtTag}\``,
      async act(hand) {
        await hand.click(hand.page.getByRole('searchbox', { name: /^Search the runs/ }))
        await hand.type(soughtTag)
        await hand.sees(
          () => document.querySelectorAll('main [role=row] input[type=checkbox]').length === 1,
          null,
        )
      },
    },
    {
      how: 'pointing at the state of the failed run: the title of its diagnosis',
      async act(hand) {
        const { page } = hand
        const link = page.getByRole('link', { name: failedName, exact: true })
        await hand.point(page.getByRole('row').filter({ has: link }).getByText('failed'))
        await hand.seesText(page.getByRole('tooltip').getByText(/NaN|finite|RuntimeError/))
      },
    },
    {
      how: 'the run; pen, name, Enter; menu, *Tags*, tag, Enter; *Add notes*, text, Ctrl Enter',
      async act(hand, { nth }) {
        const { page } = hand
        await hand.click(page.getByRole('link', { name: renamed, exact: true }))
        await hand.click(page.getByRole('button', { name: 'Rename' }))
        await hand.replace(`renamed-${nth}`, 'Enter')
        await page.getByRole('heading', { name: `renamed-${nth}` }).waitFor()
        await hand.click(page.getByRole('button', { name: 'More actions' }))
        await hand.click(page.getByRole('menuitem', { name: /^Tags/ }))
        // As a person does, it types into a field that is there.
        await page.getByRole('dialog').getByRole('textbox').waitFor()
        await page.keyboard.press('End')
        await hand.type(`, tagged-${nth}`, 'Enter')
        await page.getByText(`tagged-${nth}`).first().waitFor()
        await hand.click(page.getByRole('button', { name: 'Add notes' }))
        await page.locator('textarea').waitFor()
        await hand.type(`noted ${nth}`, 'Control+Enter')
        await hand.seesText(page.locator('main p').getByText(`noted ${nth}`))
      },
      async undo({ page, product }) {
        const id = new URL(page.url()).pathname.split('/')[2]
        const token = await signIn(product.address)
        const body = { name: renamed, notes: '', tags: ['sweep'] }
        await askApi(product.address, 'PATCH', `/api/runs/${id}`, { token, body })
      },
    },
    {
      how: 'the page of the run is open',
      open: openRun(liveName, 'Metrics'),
      async act(hand, { nth, product }) {
        hand.start()
        await product.log(1000 + nth)
        const step = 1000 + nth
        const [plain, long] = [String(step), step.toLocaleString('en-US')]
        await hand.seesText(hand.page.getByText(new RegExp(`at step (${plain}|${long})`)))
      },
    },
    {
      how: 'the run, *Artifacts*, *Register*, the model, Enter',
      async act(hand, { nth }) {
        const { page } = hand
        // Each repetition registers another checkpoint: the same one again would be the same version.
        const name = sampleRuns()[10 + (nth % 150)]?.name ?? ''
        await hand.click(page.getByRole('link', { name, exact: true }))
        await hand.click(page.getByRole('link', { name: /^Artifacts/ }))
        await hand.click(page.getByRole('button', { name: /^Register .*safetensors/ }))
        await hand.type('classifier', 'Enter')
        await page.waitForURL(/\/models\/classifier/)
        await hand.seesText(page.getByRole('link', { name: /^Version \d/ }))
      },
    },
  ],
}
