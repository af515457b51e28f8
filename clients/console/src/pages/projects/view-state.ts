import { defaultView } from '../../../../../schemas/default-view.ts'
import type { WorkspaceState } from '../../../../../schemas/workspace.ts'
import { panelsFrom, panelsText } from '../../panels/panel.ts'
import { visible } from '../../words/visible.ts'

type Search = Readonly<Record<string, string | undefined>>

/** The parameters of the address that make up a view, besides its panels. */
const kept = [
  ...([
    'q',
    'runs',
    'sort',
    'cols',
    'group',
    'band',
    'off',
    'keys',
    'x',
    'smooth',
    'filter',
    'log',
  ] as const),
  'range',
] as const

/** The name of a view as people read it. */
export const nameOf = (view: string, say: { defaultView: string }) =>
  view === defaultView ? say.defaultView : visible(view)

/** Why a view cannot get this name: saving it would replace another one. */
export function faultOfName(
  view: string,
  rows: readonly { view: string; owner: string | null }[],
  username: string,
): 'taken' | 'reserved' | null {
  if (view === defaultView) return 'reserved'
  return rows.some(row => row.view === view && row.owner === username) ? 'taken' : null
}

/** What an address shows, as a view to be saved. */
export function stateOf(search: Search): WorkspaceState {
  const texts = kept.flatMap(name => (search[name] === undefined ? [] : [[name, search[name]]]))
  const panels = panelsFrom(search.panels)
  return { ...Object.fromEntries(texts), ...(panels.length > 0 && { panels }) }
}

/** The address of a saved view; what a newer version saved in addition is left out. */
export function searchOf(
  state: Readonly<Record<string, unknown>>,
): Record<string, string | undefined> {
  const texts = kept.map(name => {
    const value = state[name]
    return [name, typeof value === 'string' ? value : undefined] as const
  })
  return {
    ...Object.fromEntries(texts),
    panels: panelsText(panelsFrom(JSON.stringify(state.panels ?? []))),
  }
}

/** Whether an address shows what anybody sees first. */
export const isBare = (search: Search): boolean =>
  [...kept, 'panels', 'view'].every(name => search[name] === undefined)
