import { get } from './api.ts'
import { element, timeOf } from './page.ts'

type Alert = {
  level: 'info' | 'warn' | 'error'
  title: string
  text: string
  state: 'open' | 'resolved' | 'noted'
  fired_at: string
  resolved_at: string | null
}
type Alerted = { run_id: string; counts: { alerts: number } }

const shownAlerts = 20

/** The newest alerts of a run, those first that are open. */
export async function showAlerts({ run_id, counts }: Alerted): Promise<void> {
  element('alerts-section').hidden = counts.alerts === 0
  if (counts.alerts === 0) return
  const at = `/api/runs/${run_id}/alerts?limit=${shownAlerts}`
  const [open, newest] = await Promise.all([get<Alert[]>(`${at}&state=open`), get<Alert[]>(at)])
  const others = newest.filter(({ state }) => state !== 'open')
  element('alerts').replaceChildren(...[...open, ...others].slice(0, shownAlerts).map(itemOf))
}

function itemOf({ level, title, text, state, fired_at, resolved_at }: Alert): HTMLElement {
  const item = document.createElement('li')
  item.className = `${level} ${state}`
  const name = document.createElement('strong')
  name.textContent = title
  item.append(name, ' ', timeOf(fired_at))
  if (state === 'open') item.append(' open')
  if (resolved_at !== null) item.append(' until ', timeOf(resolved_at))
  else if (text !== '') item.append(detailOf(text))
  return item
}

/** Of what is over, the title is enough. */
function detailOf(text: string): HTMLElement {
  const detail = document.createElement('p')
  detail.textContent = text
  return detail
}
