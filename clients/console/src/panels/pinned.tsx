import type { Panel } from '../../../../schemas/workspace.ts'
import { MenuItem } from '../design/menu.tsx'
import { usePart } from '../design/use-part.ts'
import { useWords } from '../words/words.ts'
import type { Drawn } from './board.tsx'
import type { Shared } from './drawn-panel.tsx'
import type { Names } from './editor.tsx'
import { menuWords } from './menu-words.ts'
import { isFull } from './panel.ts'

export type Pinned = { panels: readonly Panel[]; setPanels: (panels: Panel[]) => void }

// Most projects have no panels, so that their code is loaded for the first one.
const loadBoard = () => import('./board.tsx')
const load = () => import('./drawn-panel.tsx')

function DrawnPanel({ drawn, shared }: { drawn: Drawn; shared: Shared }) {
  const part = usePart(load)
  return part ? (
    <part.DrawnPanel drawn={drawn} shared={shared} />
  ) : (
    <div style={{ height: drawn.height }} aria-busy="true" />
  )
}

type Props = { pinned: Pinned; names: Names; shared: Shared }

/** The pinned panels of a workspace or a comparison. */
export function PinnedPanels({ pinned: { panels, setPanels }, names, shared }: Props) {
  const part = usePart(panels.length > 0 ? loadBoard : null)
  if (panels.length === 0) return null
  return part ? (
    <part.Board
      panels={panels}
      onChange={setPanels}
      names={names}
      draw={drawn => <DrawnPanel drawn={drawn} shared={shared} />}
    />
  ) : (
    <div style={{ height: 240 }} aria-busy="true" />
  )
}

/** Pins the metrics of a chart: an item of its menu. */
export function PinItem({ pinned, keys }: { pinned: Pinned; keys: readonly string[] }) {
  const say = useWords(menuWords)
  const pin = () => pinned.setPanels([...pinned.panels, { kind: 'line', keys: [...keys] }])
  return (
    <MenuItem onSelect={pin} unless={isFull(pinned.panels) && say.full}>
      {say.pin}
    </MenuItem>
  )
}

/** Adds a panel that shows which hyperparameters matter for a metric: an item of the menu of its chart. */
export function ImportanceItem({ pinned, metric }: { pinned: Pinned; metric: string }) {
  const say = useWords(menuWords)
  const add = () =>
    pinned.setPanels([{ kind: 'importance', metric: `${metric}:last` }, ...pinned.panels])
  return (
    <MenuItem onSelect={add} unless={isFull(pinned.panels) && say.full}>
      {say.importance}
    </MenuItem>
  )
}
