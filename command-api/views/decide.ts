import type { View, ViewEvent, ViewName } from '../../events/views.ts'
import { Refusal } from '../../platform/refusal.ts'

export type SaveView = ViewName & { shared: boolean; state: string; digest: string }

/** Idempotent: saving the current state again appends no event. */
export function saveView(view: View, command: SaveView): ViewEvent[] {
  if (view?.digest === command.digest && view.shared === command.shared) return []
  return [{ type: 'view.saved', data: command }]
}

export function removeView(view: View, name: ViewName): ViewEvent[] {
  if (!view) throw new Refusal('not_found', `No such view: ${name.view}`)
  return [{ type: 'view.removed', data: name }]
}
