import { createStore } from '../../session/store.ts'

/** A view of the list, as in its address: search, order, columns, and grouping. */
export type View = Record<'q' | 'sort' | 'cols' | 'group', string | undefined>
export type SavedView = View & { name: string }

const key = 'forge.views'
const most = 50

/** Stored data may come from another version, or be damaged. */
export function viewsIn(text: string | null): SavedView[] {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]')
    if (!Array.isArray(parsed)) return []
    return parsed.flatMap(({ name, q, sort, cols, group }) =>
      typeof name === 'string'
        ? [{ name, q: textOr(q), sort: textOr(sort), cols: textOr(cols), group: textOr(group) }]
        : [],
    )
  } catch {
    return []
  }
}

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
