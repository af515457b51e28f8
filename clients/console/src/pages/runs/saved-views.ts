import { createStore } from '../../session/store.ts'

const parts = ['q', 'starred', 'archived', 'sort', 'cols', 'group'] as const
/** A view of the list, as in its address: search, marks, order, columns, and grouping. */
export type View = Record<(typeof parts)[number], string | undefined>
export type SavedView = View & { name: string }

const key = 'forge.views'
const most = 50

/** Stored data may come from another version, or be damaged. */
export function viewsIn(text: string | null): SavedView[] {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]')
    if (!Array.isArray(parsed)) return []
    return parsed.flatMap(({ name, ...view }) =>
      typeof name === 'string' ? [{ name, ...viewOf(view) }] : [],
    )
  } catch {
    return []
  }
}

/** Parts that are missing or no text are those of an address without them. */
export const viewOf = (given: Readonly<Record<string, unknown>>): View =>
  Object.fromEntries(parts.map(part => [part, textOr(given[part])])) as View

const textOr = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** The views with one more; one of the same name is replaced. */
export const withView = (views: readonly SavedView[], view: SavedView): SavedView[] =>
  [...views.filter(({ name }) => name !== view.name), view].slice(-most)

export const savedViews = createStore<readonly SavedView[]>(
  'localStorage' in globalThis ? viewsIn(localStorage.getItem(key)) : [],
)

export function keepViews(views: readonly SavedView[]): void {
  localStorage.setItem(key, JSON.stringify(views))
  savedViews.set(views)
}
