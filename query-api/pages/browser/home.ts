import { ApiFailure, get, signOut } from './api.ts'
import { showMarks } from './header-marks.ts'
import { pageOfMlflow } from './mlflow-address.ts'
import { lengthOf } from './numbers.ts'
import { element, hideFailure, openPage, rowOf, showFailure, timeOf } from './page.ts'

/** An MLflow client of a person prints addresses below this page. */
const elsewhere = pageOfMlflow(location.hash)
if (elsewhere !== null) location.replace(elsewhere)

type Run = {
  run_id: string
  short_id: string
  name: string | null
  project: string
  owner: string
  state: string
  created_at: string
  duration_s: number | null
}

const shownRuns = 50
const rereadMs = 5_000

element('sign-out').addEventListener('click', async () => {
  await signOut().catch(() => {})
  location.reload()
})

const content = ['home', 'account']

async function show(): Promise<void> {
  const { username } = await get<{ username: string }>('/api/auth/me')
  element('who').textContent = username
  await showRuns()
  for (const id of content) element(id).hidden = false
  showMarks(element('marks'))
  await rereadOnAndOn()
}

/** A hidden tab asks nothing; a server that is away is asked again. */
async function rereadOnAndOn(): Promise<never> {
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, rereadMs))
    if (document.hidden) continue
    try {
      await showRuns()
      hideFailure()
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 401) throw error
      showFailure(error)
    }
  }
}

async function showRuns(): Promise<void> {
  const runs = await get<Run[]>(`/api/runs?sort=-created_at&limit=${shownRuns}`)
  element('no-runs').hidden = runs.length > 0
  element('runs').hidden = runs.length === 0
  const focused = document.activeElement?.getAttribute('href')
  element('rows').replaceChildren(...runs.map(rowOfRun))
  // Replacing the rows would otherwise take the focus from whoever moves through them by keyboard.
  if (focused)
    element('rows')
      .querySelector<HTMLElement>(`[href="${CSS.escape(focused)}"]`)
      ?.focus()
}

function rowOfRun(run: Run): HTMLElement {
  const link = document.createElement('a')
  link.href = `/runs/${encodeURIComponent(run.run_id)}`
  link.textContent = run.short_id
  const name = document.createElement('span')
  name.textContent = run.name ?? ''
  const state = document.createElement('span')
  state.className = `badge ${run.state}`
  state.textContent = run.state
  return rowOf(
    [link, ' ', name],
    [state],
    [run.project],
    [run.owner],
    [timeOf(run.created_at)],
    [run.duration_s === null ? '' : lengthOf(run.duration_s)],
  )
}

await openPage(content, show)
