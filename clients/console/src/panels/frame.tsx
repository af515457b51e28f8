import Ellipsis from 'lucide-react/icons/ellipsis'
import { type ReactNode, useState } from 'react'
import { Icon } from '../design/icon.tsx'
import { Menu, MenuItem } from '../design/menu.tsx'
import { ScrollBox } from '../design/scroll-box.tsx'
import { visible } from '../words/visible.ts'
import { useWords } from '../words/words.ts'
import styles from './panels.module.css'
import { words } from './words.ts'

type Props = {
  title: string
  height: number
  actions: ReactNode
  /** The same as a table; null where there is nothing to read. */
  table: (() => ReactNode) | null
  children: ReactNode
}

/** A panel with its title and menu. */
export function Frame({ title, height, actions, table, children }: Props) {
  const say = useWords(words)
  const [isTable, setTable] = useState(false)
  return (
    <figure className={styles.panel} aria-label={title}>
      <figcaption className={styles.head}>
        <h3 title={title}>{visible(title)}</h3>
        <Menu label={say.menu(title)} isQuiet shown={<Icon of={Ellipsis} />}>
          {table && (
            <MenuItem onSelect={() => setTable(!isTable)}>
              {isTable ? say.chart : say.table}
            </MenuItem>
          )}
          {actions}
        </Menu>
      </figcaption>
      {/* A group: panels may have the same title, and regions of one name could not be told apart. */}
      <ScrollBox
        className={styles.body}
        style={{ maxHeight: height + 8 }}
        role="group"
        aria-label={title}
      >
        {isTable && table ? table() : children}
      </ScrollBox>
    </figure>
  )
}
