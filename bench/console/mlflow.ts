import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { peersPython, startMlflow } from '../clients/peers.ts'
import { openScreen, type Timed, tasks } from './screen.ts'

const run = promisify(execFile)
const runs = 100_000

type Filled = {
  experiments: Record<'curves' | 'large' | 'list', string>
  compared: string[]
  large: string
}

/** The same tasks in MLflow's own pages, on a separate server with the same numbers of runs and points. */
export async function measureMlflow(browser: Browser, times: number): Promise<Timed[]> {
  const python = await peersPython()
  const folder = await mkdtemp(join(tmpdir(), 'forge-bench-mlflow-'))
  const server = await startMlflow(python, folder)
  try {
    const filler = join(import.meta.dirname, 'fill_mlflow.py')
    const { stdout } = await run('python3', [filler, join(folder, 'mlflow.db'), String(runs)])
    const { experiments, large } = JSON.parse(stdout) as Filled
    const page = await openScreen(browser)
    const { open, found } = tasks(page, server.address, times)
    const runsOf = (experiment: string) => `/#/experiments/${experiment}/runs`
    await open('open the list of 100,000 runs', null, runsOf(experiments.list), rowsShown, 10)
    const metrics = `${runsOf(experiments.large)}/${large}/model-metrics`
    await open('open a run with 200,000 points', null, metrics, linesShown, 1)
    const charts = `${runsOf(experiments.curves)}?compareRunsMode=CHART`
    await open('compare 10 runs', null, charts, linesShown, 10)
    return found
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const rowsShown = (count: number) =>
  [...document.querySelectorAll('a')].filter(({ textContent }) =>
    /^seeded \d+$/.test(textContent ?? ''),
  ).length >= count

/** Whether some chart has this many lines. */
const linesShown = (count: number) =>
  [...document.querySelectorAll('.js-plotly-plot')].some(
    chart => chart.querySelectorAll('.js-line').length >= count,
  )
