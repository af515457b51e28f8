import { useQuery } from '@tanstack/react-query'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { Panel } from '../../../design/panel.tsx'
import { usePart } from '../../../design/use-part.ts'
import { useWords } from '../../../words/words.ts'
import type { RunRecord } from '../use-run.ts'
import { endOfLog } from './end-of-log.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

const loadTerminal = async () => ({
  ...(await import('../logs/ansi.ts')),
  ...(await import('../../../../../columns.ts')),
})

/** The last output of a run that did not succeed: its message, or without a multi-line one, the end of its log. */
export function LastWords({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const said = run.message?.trimEnd() ?? ''
  const isFailed = run.state === 'failed'
  const needsLog = isFailed && !said.includes('\n')
  const errors = useQuery({ ...endOfLog(run.run_id, 'stderr'), enabled: needsLog })
  const lines = useQuery({
    ...endOfLog(run.run_id),
    enabled: needsLog && errors.data?.length === 0,
  })
  const last = errors.data && errors.data.length > 0 ? errors.data : (lines.data ?? [])
  const terminal = usePart(needsLog ? loadTerminal : null)
  const plainOf = (line: LogLine) =>
    terminal
      ?.piecesOf(line.text, terminal.cellsOf)
      .map(piece => piece.text)
      .join('')
  const text = needsLog ? (terminal ? last.map(plainOf).join('\n') : '') : said
  if (text === '' || run.state === 'succeeded') return null
  return (
    <Panel title={say.lastWords}>
      <pre className={styles.words} data-fact="last_words" tabIndex={0}>
        {text}
      </pre>
    </Panel>
  )
}
