import { ApiFailure, get, signOut } from './api.ts'
import { headerMarks } from './header-marks.ts'
import { signedIn } from './sign-in.ts'

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

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T

element('sign-out').addEventListener('click', async () => {
  await signOut().catch(() => {})
  location.reload()
})

async function start(): Promise<void> {
  for (const id of ['home', 'account']) element(id).hidden = true
  try {
    await signedIn()
    const { username } = await get<{ username: string }>('/api/auth/me')
    element('who').textContent = username
    await showRuns()
    for (const id of ['home', 'account']) element(id).hidden = false
    element('marks').replaceChildren(...headerMarks.map(mark => mark()))
    await rereadOnAndOn()
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) await start()
    else showFailure(error)
  }
}

/** A hidden tab asks nothing; a server that is away is asked again. */
async function rereadOnAndOn(): Promise<never> {
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, rereadMs))
    if (document.hidden) continue
    try {
      await showRuns()
      element('failure').hidden = true
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
  element('rows').replaceChildren(...runs.map(rowOf))
  // Replacing the rows would otherwise take the focus from whoever moves through them by keyboard.
  if (focused)
    element('rows')
      .querySelector<HTMLElement>(`[href="${CSS.escape(focused)}"]`)
      ?.focus()
}

function rowOf(run: Run): HTMLElement {
  const link = document.createElement('a')
  link.href = `/runs/${encodeURIComponent(run.run_id)}`
  link.textContent = run.short_id
  const name = document.createElement('span')
  name.textContent = run.name ?? ''
  const state = document.createElement('span')
  state.className = `badge ${run.state}`
  state.textContent = run.state
  const created = document.createElement('time')
  created.dateTime = run.created_at
  created.textContent = new Date(run.created_at).toLocaleString()
  const row = document.createElement('tr')
  for (const content of [
    [link, ' ', name],
    [state],
    [run.project],
    [run.owner],
    [created],
    [run.duration_s === null ? '' : lengthOf(run.duration_s)],
  ]) {
    const cell = document.createElement('td')
    cell.append(...content)
    row.append(cell)
  }
  return row
}

/** `2 h 5 min`, `3 min 20 s`, `12 s` */
function lengthOf(duration: number): string {
  const seconds = Math.round(duration)
  const [h, min, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return `${h} h ${min} min`
  return min > 0 ? `${min} min ${s} s` : `${s} s`
}

function showFailure(error: unknown): void {
  const failure = element('failure')
  failure.hidden = false
  failure.textContent = error instanceof Error ? error.message : String(error)
}

await start()
