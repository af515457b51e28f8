import type { Panel } from '../../../../schemas/workspace.ts'
import { MenuItem } from '../design/menu.tsx'
import { usePart } from '../design/use-part.ts'
import { useWords } from '../words/words.ts'
import { Board, type Drawn } from './board.tsx'
import type { Shared } from './drawn-panel.tsx'
import type { Names } from './editor.tsx'
import { isFull } from './panel.ts'
import { words } from './words.ts'

export type Pinned = { panels: readonly Panel[]; setPanels: (panels: Panel[]) => void }

const load = () => import('./drawn-panel.tsx')

/** Most projects have no panels, so that what draws them is loaded for the first one. */
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
export const PinnedPanels = ({ pinned, names, shared }: Props) => (
  <Board
    panels={pinned.panels}
    onChange={pinned.setPanels}
    names={names}
    draw={drawn => <DrawnPanel drawn={drawn} shared={shared} />}
  />
)

/** Pins the metrics of a chart: an item of its menu. */
export function PinItem({ pinned, keys }: { pinned: Pinned; keys: readonly string[] }) {
  const say = useWords(words)
  const pin = () => pinned.setPanels([...pinned.panels, { kind: 'line', keys: [...keys] }])
  return (
    <MenuItem onSelect={pin} unless={isFull(pinned.panels) && say.full}>
      {say.pin}
    </MenuItem>
  )
}
