export type Phase = { name: string; at: string }

/** Lists each state of a run with the time spent in it; the last state of a live run keeps counting. */
export function showPhases(list: HTMLElement, phases: readonly Phase[]): void {
  list.replaceChildren(
    ...phases.map(({ name, at }, index) => {
      const item = document.createElement('li')
      item.textContent = name
      const next = phases[index + 1]
      if (next) item.append(duration(Date.parse(next.at) - Date.parse(at)))
      item.title = at
      return item
    }),
  )
}

function duration(ms: number): HTMLElement {
  const time = document.createElement('span')
  time.className = 'time'
  const seconds = Math.max(0, Math.round(ms / 1000))
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  time.textContent = h > 0 ? `${h} h ${m} min` : m > 0 ? `${m} min ${s} s` : `${s} s`
  return time
}
