import { Popover } from '../../design/popover.tsx'
import { useWords } from '../../words/words.ts'
import { ColumnList } from './column-list.tsx'
import { columnWords } from './column-words.ts'
import { fields } from './columns.ts'
import styles from './page.module.css'

type Props = { columns: readonly string[]; onChange: (columns: readonly string[]) => void }

/** The available columns; metrics and hyperparameters come from the newest runs. */
export function ColumnChooser(props: Props) {
  const say = useWords(columnWords)
  return (
    <Popover label={say.columns} className={styles.popover}>
      {() => <ColumnList {...props} fields={fields} />}
    </Popover>
  )
}
