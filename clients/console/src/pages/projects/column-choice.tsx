import { useQuery } from '@tanstack/react-query'
import { Loading } from '../../design/notice.tsx'
import { Popover } from '../../design/popover.tsx'
import { usePart } from '../../design/use-part.ts'
import { useWords } from '../../words/words.ts'
import { columnWords } from '../runs/column-words.ts'
import { choosable } from './columns.ts'
import { readingHparamKeys } from './group-choice.tsx'
import styles from './page.module.css'

type Props = {
  project: string
  columns: readonly string[]
  /** The metrics of the shown runs. */
  keys: readonly string[]
  onChange: (columns: readonly string[]) => void
}

/** Which values the rows of the runs show. */
export const ColumnChoice = (props: Props) => {
  const say = useWords(columnWords)
  return (
    <Popover label={say.columns} className={styles.popover}>
      {() => <Choices {...props} />}
    </Popover>
  )
}

const load = () => import('../runs/column-list.tsx')

function Choices({ project, columns, keys, onChange }: Props) {
  const list = usePart(load)
  const hparams = useQuery(readingHparamKeys(project))
  if (list === null) return <Loading />
  return (
    <list.ColumnList
      columns={columns}
      onChange={onChange}
      fields={choosable}
      names={{ metrics: keys, hparams: hparams.data?.keys.map(({ key }) => key) ?? [] }}
    />
  )
}
