import { useQuery } from '@tanstack/react-query'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { Panel } from '../../../design/panel.tsx'
import { usePart } from '../../../design/use-part.ts'
import { reading } from '../../../session/api.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

const shownLines = 10
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
  const path = `${pathOfRun(run.run_id)}/logs`
  const end = { before: Number.MAX_SAFE_INTEGER, limit: shownLines }
  const errors = useQuery({
    ...reading<LogLine[]>(path, { ...end, stream: 'stderr' }),
    enabled: needsLog,
  })
  const lines = useQuery({
    ...reading<LogLine[]>(path, end),
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
