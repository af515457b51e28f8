import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Static } from 'typebox'
import type { AuditRow } from '../../../../../schemas/audit.ts'
import type { quotaRow } from '../../../../../schemas/quotas.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Row = Static<typeof quotaRow>
type Limit = 'max_concurrent_gpus' | 'max_concurrent_jobs' | 'daily_gpu_hours' | 'max_storage_gb'

const path = '/api/admin/quotas'
const limits: readonly Limit[] = [
  'max_concurrent_gpus',
  'max_concurrent_jobs',
  'daily_gpu_hours',
  'max_storage_gb',
]

/** What each person may hold, changed in place. */
export function Section() {
  const say = useWords(words)
  const quotas = useQuery(reading<Row[]>(path, { limit: 500 }))
  const [asked, setAsked] = useState<string | null>(null)
  return (
    <Panel title={say.quotas}>
      <p className={styles.soft}>{say.zero}</p>
      <Shown of={quotas}>
        {rows => (
          <div className={styles.scroll}>
            <div className={styles.quota} aria-hidden="true">
              <span>{say.name}</span>
              {limits.map(limit => (
                <span key={limit}>{say[limit]}</span>
              ))}
              <span />
            </div>
            {rows.map(row => (
              <QuotaRow
                key={`${row.username} ${JSON.stringify(row)}`}
                row={row}
                onHistory={() => setAsked(row.username)}
              />
            ))}
          </div>
        )}
      </Shown>
      {asked !== null && <History username={asked} onClose={() => setAsked(null)} />}
    </Panel>
  )
}

function QuotaRow({ row, onHistory }: { row: Row; onHistory: () => void }) {
  const say = useWords(words)
  const { send, error, isBusy } = useChange(path, '/api/audit')
  const [isChanged, setChanged] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const { default: _, ...kept } = row
    void send('POST', path, {
      ...kept,
      ...Object.fromEntries(limits.map(limit => [limit, Number(given.get(limit))])),
    }).then(saved => saved && setChanged(false))
  }
  return (
    <form className={styles.quota} onSubmit={submit} onChange={() => setChanged(true)}>
      <span>
        {row.username} {row.default && <Badge state="soft" text={say.usual} />}
      </span>
      {limits.map(limit => (
        <input
          key={limit}
          name={limit}
          type="number"
          min={0}
          step={limit.startsWith('max_concurrent') ? 1 : 'any'}
          required
          aria-label={`${say[limit]}: ${row.username}`}
          defaultValue={row[limit]}
        />
      ))}
      <span>
        <Button type="submit" kind="main" busy={isBusy} unless={!isChanged && say.unchanged}>
          {say.save}
        </Button>
        <Button kind="quiet" onClick={onHistory}>
          {say.history}
        </Button>
      </span>
      <Failure error={error} />
    </form>
  )
}

function History({ username, onClose }: { username: string; onClose: () => void }) {
  const say = useWords(words)
  const events = useQuery(
    reading<AuditRow[]>('/api/audit', { target: `quota:${username}`, limit: 50 }),
  )
  return (
    <Dialog title={say.historyOf(username)} onClose={onClose} wide>
      <Shown of={events}>
        {rows =>
          rows.length === 0 ? (
            <p>{say.noHistory}</p>
          ) : (
            <Table
              caption={say.historyOf(username)}
              rows={rows}
              keyOf={row => row.event_id}
              columns={[
                { key: 'at', title: say.when, cell: row => <Ago at={row.at} /> },
                { key: 'what', title: say.what, cell: row => row.summary },
              ]}
            />
          )
        }
      </Shown>
    </Dialog>
  )
}
