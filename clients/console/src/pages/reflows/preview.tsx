import { useQuery } from '@tanstack/react-query'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { messagesIn } from '../../design/messages.ts'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Talk, Text } from '../../design/talk.tsx'
import { request } from '../../session/session.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { leftOut, type Preview, pathOf, scrubbed } from './paths.ts'
import { words } from './words.ts'

/** The rows that the next firing would take, scrubbed, with counts. */
export function PreviewPanel({ reflow_id }: { reflow_id: string }) {
  const say = useWords(words)
  const found = useQuery({
    queryKey: ['preview of a reflow', reflow_id],
    queryFn: () => request<Preview>('POST', `${pathOf(reflow_id)}/preview`),
    retry: false,
    gcTime: 0,
  })
  return (
    <Panel
      title={say.preview}
      actions={
        <Button busy={found.isFetching} onClick={() => void found.refetch()}>
          {say.previewAgain}
        </Button>
      }
    >
      <p className={styles.soft}>{say.previewHint}</p>
      <Shown of={found}>{preview => <Found preview={preview} />}</Shown>
    </Panel>
  )
}

function Found({ preview: { counts, rows, truncated, captured } }: { preview: Preview }) {
  const say = useWords(words)
  const language = useLanguage()
  const number = (value: number) => value.toLocaleString(language)
  const reasons = leftOut.filter(one => counts[one] > 0)
  const kinds = scrubbed.filter(one => counts.scrubbed[one] > 0)
  return (
    <>
      <p className={styles.facts}>
        <span>{say.takenOf(number(counts.taken), number(counts.seen))}</span>
        {reasons.length > 0 && (
          <span>
            {say.leftOut}: {reasons.map(one => `${number(counts[one])} ${say[one]}`).join(', ')}
          </span>
        )}
        <span>
          {say.scrubbed}:{' '}
          {kinds.map(one => `${number(counts.scrubbed[one])} ${say[one]}`).join(', ') ||
            say.nothing}
        </span>
        {captured !== null && (
          <span>
            {say.captured}: {say.capturedNow(number(captured.kept), captured.retention_days)}
            {captured.dropped > 0 && `, ${say.dropped(number(captured.dropped))}`}
            {captured.evicted > 0 && `, ${say.evicted(number(captured.evicted))}`}
          </span>
        )}
      </p>
      {truncated && <p className={styles.soft}>{say.more}</p>}
      <ol className={styles.taken}>
        {rows.map(one => (
          <li key={one.source}>
            <span className={layout.row}>
              <code>{one.source}</code>
              {one.scrubbed.map(kind => (
                <Badge key={kind}>{say[kind]}</Badge>
              ))}
            </span>
            <Content row={one.row} />
          </li>
        ))}
      </ol>
    </>
  )
}

function Content({ row }: { row: unknown }) {
  const messages =
    typeof row === 'object' && row !== null && 'messages' in row ? messagesIn(row.messages) : null
  return messages ? (
    <Talk messages={messages} />
  ) : (
    <Text text={JSON.stringify(row, null, 2)} isCode />
  )
}
