import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { projectionList } from '../../../../../schemas/projections.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const path = '/api/admin/projections'

/** How far the read models lag behind the log, and a way to rebuild them. */
export function Section() {
  const say = useWords(words)
  const found = useQuery({
    ...reading<Static<typeof projectionList>>(path),
    refetchInterval: 3_000,
  })
  const { send, error } = useChange(path)
  const isBusy = found.data?.rebuild.state === 'running' && say.isRebuilding
  const rebuildOf = (name: string) =>
    void send('POST', `${path}/${encodeURIComponent(name)}/rebuild`)
  return (
    <Shown of={found}>
      {({ projections, rebuild }) => (
        <Panel
          title={say.projections}
          actions={
            <Button unless={isBusy} onClick={() => rebuildOf('all')}>
              {say.rebuild}
            </Button>
          }
        >
          <Failure error={error} />
          <p className={styles.soft}>{say.rebuildHelp}</p>
          {rebuild.state !== 'idle' && (
            <p role="status">
              <State state={rebuild.state} />{' '}
              {say.rebuilt(rebuild.done_records, rebuild.total_records)} {rebuild.error}
              {rebuild.state === 'running' && (
                <progress max={Math.max(1, rebuild.total_records)} value={rebuild.done_records} />
              )}
            </p>
          )}
          <Table
            caption={say.projections}
            rows={projections}
            keyOf={({ name }) => name}
            columns={[
              { key: 'name', title: say.name, cell: one => one.name },
              { key: 'topic', title: say.topic, cell: one => one.topic },
              { key: 'lag', title: say.lag, isNumber: true, cell: one => one.lag_records },
              { key: 'parked', title: say.parked, isNumber: true, cell: one => one.parked },
              {
                key: 'applied',
                title: say.lastApplied,
                cell: one => one.last_applied_at && <Ago at={one.last_applied_at} />,
              },
              {
                key: 'halted',
                title: '',
                cell: one => one.halted !== null && <Badge tone="bad">{one.halted}</Badge>,
              },
              {
                key: 'rebuild',
                title: '',
                cell: one => (
                  <Button
                    kind="quiet"
                    aria-label={`${say.rebuildOne}: ${one.name}`}
                    unless={isBusy}
                    onClick={() => rebuildOf(one.name)}
                  >
                    {say.rebuildOne}
                  </Button>
                ),
              },
            ]}
          />
        </Panel>
      )}
    </Shown>
  )
}
