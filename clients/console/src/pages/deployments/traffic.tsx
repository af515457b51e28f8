import { useQuery } from '@tanstack/react-query'
import type { TrafficRow } from '../../../../../schemas/traffic.ts'
import { Num } from '../../design/number.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Deployment, pathOf, type Token } from './paths.ts'
import { words } from './words.ts'

const againMs = 2_000
const shown = 20

/** The newest requests. */
export function Traffic({ deployment }: { deployment: Deployment }) {
  const say = useWords(words)
  const path = pathOf(deployment.deployment_id)
  const requests = useQuery({
    ...reading<TrafficRow[]>(`${path}/traffic`, { limit: shown }),
    refetchInterval: againMs,
  })
  const tokens = useQuery(reading<Token[]>(`${path}/tokens`, { limit: 100 }))
  const nameOf = (id: string) =>
    tokens.data?.find(({ token_id }) => token_id === id)?.name ?? say.session
  return (
    <Panel title={say.traffic}>
      <QueryTable
        of={requests}
        none={<p className={styles.soft}>{say.noTraffic}</p>}
        caption={say.traffic}
        keyOf={one => one.request_id}
        columns={[
          { key: 'at', title: say.when, cell: one => <Ago at={one.started_at} /> },
          {
            key: 'status',
            title: say.status,
            isNumber: true,
            cell: one => (
              <span className={one.status >= 400 || one.status === 0 ? styles.fault : undefined}>
                {one.status}
              </span>
            ),
          },
          { key: 'path', title: say.path, cell: one => <code>{visible(one.path)}</code> },
          { key: 'token', title: say.token, cell: one => visible(nameOf(one.token_id)) },
          {
            key: 'ttft',
            title: say.ttft,
            isNumber: true,
            cell: one => <Num value={one.ttft_ms ?? '–'} />,
          },
          {
            key: 'duration',
            title: say.duration,
            isNumber: true,
            cell: one => <Num value={one.duration_ms} />,
          },
          {
            key: 'tokens',
            title: say.completion,
            isNumber: true,
            cell: one => <Num value={one.completion_tokens ?? '–'} />,
          },
        ]}
      />
    </Panel>
  )
}
