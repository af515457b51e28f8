import { ApiFailure } from './api.ts'
import { type Asking, signedIn } from './sign-in.ts'

/** What every page does: find its elements, sign somebody in, and say what failed. */
export const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T

/**
 * Shows the page to whoever is signed in, and asks again when the sign-in has ended. `content`: the ids of what only they
 * see; `show` reveals it.
 */
export async function openPage(
  content: readonly string[],
  show: () => Promise<void>,
  asking?: Asking,
): Promise<void> {
  let asked = asking
  for (;;) {
    for (const id of content) element(id).hidden = true
    hideFailure()
    try {
      await signedIn(asked)
      return await show()
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 401)) return showFailure(error)
      asked = undefined
    }
  }
}

export const textOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** In the place of the content, or above it if there already is some. */
export function showFailure(error: unknown, help: (string | Node)[] = []): void {
  element('failure').hidden = false
  element('failure-text').textContent = textOf(error)
  element('failure-help').replaceChildren(...help)
}

export function hideFailure(): void {
  element('failure').hidden = true
}

/** The cells of a row, each with a text or an element. */
export function rowOf(...cells: (string | Node)[][]): HTMLElement {
  const row = document.createElement('tr')
  for (const content of cells) {
    const cell = document.createElement('td')
    cell.append(...content)
    row.append(cell)
  }
  return row
}

export function timeOf(at: string): HTMLTimeElement {
  const time = document.createElement('time')
  time.dateTime = at
  time.textContent = new Date(at).toLocaleString()
  return time
}
