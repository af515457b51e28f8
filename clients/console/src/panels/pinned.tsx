import type { Panel } from '../../../../schemas/workspace.ts'
import { MenuItem } from '../design/menu.tsx'
import { useWords } from '../words/words.ts'
import { Board } from './board.tsx'
import { DrawnPanel, type Shared } from './drawn-panel.tsx'
import type { Names } from './editor.tsx'
import { words } from './words.ts'

export type Pinned = { panels: readonly Panel[]; setPanels: (panels: Panel[]) => void }

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
  return <MenuItem onSelect={pin}>{say.pin}</MenuItem>
}
