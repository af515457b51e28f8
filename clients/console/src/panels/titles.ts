import type { Panel } from '../../../../schemas/workspace.ts'
import { nameOfAxis } from './axis.ts'

type Say = { parallel: string; importance: string; note: string }

/** The title that somebody gave a panel; otherwise it is named after its content. */
export function titleOf(panel: Panel, say: Say): string {
  if (panel.title !== undefined && panel.title !== '') return panel.title
  switch (panel.kind) {
    case 'line':
      return panel.over === undefined
        ? panel.keys.join(', ')
        : `${panel.keys.join(', ')} / ${panel.over}`
    case 'scatter':
      return `${nameOfAxis(panel.y)} / ${nameOfAxis(panel.x)}`
    case 'bar':
      return nameOfAxis(panel.metric)
    case 'parallel':
      return say.parallel
    case 'importance':
      return `${say.importance}: ${nameOfAxis(panel.metric)}`
    case 'note':
      return say.note
  }
}
