import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { TrafficSummary } from '../../../../../schemas/traffic.ts'
import { Copyable } from '../../design/copy.tsx'
import { Figure, Figures } from '../../design/number.tsx'
import { State } from '../../design/state.tsx'
import { LineagePanel } from '../../lineage/lineage.tsx'
import { reading } from '../../session/api.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { Ahead } from '../slice.ts'
import { Actions } from './actions.tsx'
import { History } from './history.tsx'
import { Lists } from './lists.tsx'
import styles from './page.module.css'
import { type Deployment, pathOf, type Revision } from './paths.ts'
import { Revisions } from './revisions.tsx'
import { Snippets } from './snippets.tsx'
import { Tokens } from './tokens.tsx'
import { Traffic } from './traffic.tsx'
import { words } from './words.ts'

/** No stream has these: they are read again while the page is open. */
const againMs = 3_000

const readingDeployment = (deployment_id: string) => reading<Deployment>(pathOf(deployment_id))
export const ahead: Ahead = ({ params: { deployment_id = '' } }) => [
  readingDeployment(deployment_id),
]

export function Page() {
  const { deployment_id = '' } = useParams({ strict: false })
  const found = useQuery({
    ...readingDeployment(deployment_id),
    refetchInterval: againMs,
  })
  return <ShownPage of={found}>{one => <Found deployment={one} />}</ShownPage>
}

function Found({ deployment }: { deployment: Deployment }) {
  const say = useWords(words)
  const path = pathOf(deployment.deployment_id)
  const revisions = useQuery({
    ...reading<Revision[]>(`${path}/revisions`, { limit: 20 }),
    refetchInterval: againMs,
  })
  const summary = useQuery({
    ...reading<TrafficSummary>(`${path}/traffic/summary`, { by: 'token' }),
    refetchInterval: againMs,
  })
  const { traffic_24h: day } = deployment
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{visible(deployment.name)}</h1>
        <State state={deployment.state} />
        {deployment.state_reason && (
          <span className={styles.soft}>{visible(deployment.state_reason)}</span>
        )}
        <Actions deployment={deployment} revisions={revisions.data ?? []} />
      </header>
      <Figures>
        <Figure value={day.requests} name={say.requests} />
        <Figure value={day.errors} name={say.errors} />
        <Figure value={day.ttft_ms_p50 ?? '–'} name={say.ttft} />
        <Figure value={summary.data?.tokens_per_s ?? '–'} name={say.tokensPerS} />
        <Figure
          value={`${deployment.replicas.ready}/${deployment.replicas.desired}`}
          name={say.engines}
        />
        {deployment.cost_24h !== null && <Figure value={deployment.cost_24h} name={say.cost} />}
      </Figures>
      <Copyable text={deployment.base_url} />
      <div className={styles.columns}>
        <Revisions deployment={deployment} revisions={revisions} />
        <Tokens deployment={deployment} summary={summary.data ?? null} />
        <Traffic deployment={deployment} />
        <History deployment={deployment} />
        <Lists deployment={deployment} />
      </div>
      <LineagePanel path={path.slice('/api/'.length)} />
      <Snippets deployment={deployment} />
    </div>
  )
}
