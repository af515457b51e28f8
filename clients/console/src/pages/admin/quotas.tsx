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
import { QueryTable } from '../../design/query-table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { amounts, quotaOf, stepOf, textOfSeries } from './quota-draft.ts'
import { words } from './words.ts'

type Row = Static<typeof quotaRow>
const path = '/api/admin/quotas'
const titles = [...amounts, 'allowed_profiles', 'per_series'] as const

/** The limits of each person, edited in place. */
export function Section() {
  const say = useWords(words)
  const quotas = useQuery(reading<Row[]>(path, { limit: 500 }))
  const [asked, setAsked] = useState<string | null>(null)
  return (
    <Panel title={say.quotas}>
      <p className={styles.soft}>
        {say.zero} {say.seriesHelp}
      </p>
      <Shown of={quotas}>
        {rows => (
          <div>
            <div className={`${styles.quota} ${styles.quotaHead}`} aria-hidden="true">
              <span>{say.name}</span>
              {titles.map(limit => (
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
  const [isWrong, setWrong] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const quota = quotaOf(row.username, new FormData(event.currentTarget))
    setWrong(quota === null)
    if (quota !== null) void send('POST', path, quota).then(saved => saved && setChanged(false))
  }
  const label = (limit: (typeof titles)[number]) => `${say[limit]}: ${row.username}`
  return (
    <form className={styles.quota} onSubmit={submit} onChange={() => setChanged(true)}>
      <span className={styles.quotaName}>
        {row.username} {row.default && <Badge>{say.usual}</Badge>}
      </span>
      {amounts.map(limit => (
        <span key={limit} data-title={say[limit]}>
          <input
            name={limit}
            type="number"
            min={0}
            step={stepOf(limit)}
            required
            aria-label={label(limit)}
            defaultValue={row[limit]}
          />
        </span>
      ))}
      <span data-title={say.allowed_profiles}>
        <input
          name="allowed_profiles"
          aria-label={label('allowed_profiles')}
          placeholder={say.allProfiles}
          defaultValue={row.allowed_profiles.join(', ')}
        />
      </span>
      <span data-title={say.per_series}>
        <input
          name="per_series"
          aria-label={label('per_series')}
          aria-invalid={isWrong || undefined}
          placeholder="H100=8, A100=4/24"
          defaultValue={textOfSeries(row.per_series)}
        />
      </span>
      <span className={styles.row}>
        <Button type="submit" kind="main" busy={isBusy} unless={!isChanged && say.unchanged}>
          {say.save}
        </Button>
        <Button kind="quiet" onClick={onHistory}>
          {say.history}
        </Button>
      </span>
      <Failure error={isWrong ? say.wrongSeries : error} />
    </form>
  )
}

function History({ username, onClose }: { username: string; onClose: () => void }) {
  const say = useWords(words)
  const events = useQuery(
    reading<AuditRow[]>('/api/audit', { target: `quota:${username}`, limit: 50 }),
  )
  return (
    <Dialog title={say.historyOf(username)} onClose={onClose} shape="wide">
      <QueryTable
        of={events}
        none={<p>{say.noHistory}</p>}
        caption={say.historyOf(username)}
        keyOf={row => row.event_id}
        columns={[
          { key: 'at', title: say.when, cell: row => <Ago at={row.at} /> },
          { key: 'what', title: say.what, cell: row => row.summary },
        ]}
      />
    </Dialog>
  )
}
