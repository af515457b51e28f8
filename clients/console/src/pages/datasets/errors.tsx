import { useState } from 'react'
import { Copyable } from '../../design/copy.tsx'
import layout from '../../design/layout.module.css'
import { More } from '../../design/more.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { VersionDetail } from './paths.ts'
import { words } from './words.ts'

const step = 50
/** More files are named by their folder. */
const mostNamed = 4

/** The faults of a version, each with its file and line. */
export function Errors({ of: { errors, error_count, files } }: { of: VersionDetail }) {
  const say = useWords(words)
  const language = useLanguage()
  const [wanted, setWanted] = useState(step)
  const count = Math.max(errors.length, error_count ?? 0)
  const shown = errors.slice(0, wanted)
  const more = wanted < errors.length ? () => setWanted(wanted + step) : null
  const named = files.length > mostNamed ? 'FOLDER' : files.map(({ name }) => name).join(' ')
  return (
    <Panel title={say.errors(count)}>
      <p>{say.howToFix}</p>
      <p>
        <Copyable text={`forge dataset check ${named}`} />
      </p>
      <Table
        caption={say.errors(count)}
        rows={[...shown.entries()]}
        keyOf={([nth]) => String(nth)}
        columns={[
          {
            key: 'message',
            title: say.message,
            cell: ([, one]) => <span className={styles.message}>{visible(one.message)}</span>,
          },
          {
            key: 'file',
            title: say.file,
            cell: ([, one]) => <code className={styles.name}>{visible(one.file)}</code>,
          },
          {
            key: 'line',
            title: say.line,
            isNumber: true,
            cell: ([, one]) => one.line.toLocaleString(language),
          },
        ]}
      />
      <More of={{ data: shown, total: errors.length, more, isReading: false }} />
      {count > errors.length && <p className={layout.soft}>{say.firstErrors(errors.length)}</p>}
    </Panel>
  )
}
