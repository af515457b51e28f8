import { lengthOf } from './numbers.ts'

/** `seconds` null: it goes on, or is the end. */
export type Phase = { name: string; at: string; seconds: number | null }

/** Lists each state of a run with the time spent in it. */
export function showPhases(list: HTMLElement, phases: readonly Phase[]): void {
  list.replaceChildren(
    ...phases.map(({ name, at, seconds }) => {
      const item = document.createElement('li')
      item.textContent = name
      item.title = at
      if (seconds !== null) {
        const time = document.createElement('span')
        time.className = 'time'
        time.textContent = lengthOf(seconds)
        item.append(time)
      }
      return item
    }),
  )
}
