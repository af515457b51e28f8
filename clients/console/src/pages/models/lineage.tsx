import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { modelVersionLineage } from '../../../../../schemas/models.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Shown } from '../../design/notice.tsx'
import { Num } from '../../design/number.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { PushDialog } from '../../shell/push-dialog.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { pathOfModel } from './path.ts'
import { words } from './words.ts'

type Found = Static<typeof modelVersionLineage>

/** From the run, over its artifact and scores, to the deployments that serve the version. */
export function Lineage({ model, version }: { model: string; version: number }) {
  const say = useWords(words)
  const found = useQuery(reading<Found>(`${pathOfModel(model)}/versions/${version}`))
  const [isPushing, setPushing] = useState(false)
  const named = `${model}@${version}`
  const push = found.data?.artifact?.kind === 'hf_export' && (
    <Button onClick={() => setPushing(true)}>{say.push}</Button>
  )
  return (
    <Panel title={say.lineage(version)} actions={push}>
      {isPushing && (
        <PushDialog source={{ model: named }} what={named} onClose={() => setPushing(false)} />
      )}
      <Shown of={found}>
        {one => (
          <>
            <Source of={one} />
            {one.stage_notes !== '' && <p>{visible(one.stage_notes)}</p>}
            <Benchmarks of={one} />
            <Deployments of={one} />
          </>
        )}
      </Shown>
    </Panel>
  )
}

const Source = ({ of: { run, artifact, source, metrics } }: { of: Found }) => {
  const say = useWords(words)
  return (
    <p className={styles.facts}>
      <span>
        {say.run}{' '}
        <Link to="/runs/$run_id" params={{ run_id: source.run_id }}>
          {visible(run?.name ?? source.run_id)}
        </Link>{' '}
        {run && <span className={styles.soft}>{run.owner}</span>}
      </span>
      <span>
        {say.artifact}{' '}
        <code title={artifact?.path}>
          {visible(artifact?.path.split('/').at(-1) ?? source.artifact_id)}
        </code>
      </span>
      {Object.entries(metrics).map(([name, value]) => (
        <span key={name}>
          {visible(name)} {typeof value === 'number' ? <Num value={value} /> : String(value)}
        </span>
      ))}
    </p>
  )
}

function Benchmarks({ of: { benchmarks } }: { of: Found }) {
  const say = useWords(words)
  return (
    <>
      <h3>{say.benchmarks}</h3>
      {benchmarks.length === 0 ? (
        <p className={styles.soft}>{say.noBenchmarks}</p>
      ) : (
        <Table
          caption={say.benchmarks}
          rows={benchmarks}
          keyOf={one => `${one.benchmark} ${one.recorded_at}`}
          columns={[
            { key: 'name', title: say.benchmarks, cell: one => one.benchmark },
            { key: 'at', title: say.created, cell: one => <Ago at={one.recorded_at} /> },
            { key: 'result', title: say.result, cell: one => <code>{textOf(one.result)}</code> },
          ]}
        />
      )}
    </>
  )
}

const maxText = 200
const textOf = (result: object): string => {
  const text = JSON.stringify(result)
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}

function Deployments({ of: { deployments } }: { of: Found }) {
  const say = useWords(words)
  return (
    <>
      <h3>{say.deployments}</h3>
      {deployments.length === 0 ? (
        <p className={styles.soft}>{say.noDeployments}</p>
      ) : (
        <Table
          caption={say.deployments}
          rows={deployments}
          keyOf={one => one.revision_id}
          columns={[
            {
              key: 'name',
              title: say.deployment,
              cell: ({ deployment_id, name, is_promoted }) => (
                <>
                  <Link to="/deployments/$deployment_id" params={{ deployment_id }}>
                    {visible(name)}
                  </Link>{' '}
                  {is_promoted && <Badge tone="good">{say.promoted}</Badge>}
                </>
              ),
            },
            { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
            { key: 'requests', title: say.requests, isNumber: true, cell: one => one.requests },
            { key: 'errors', title: say.errors, isNumber: true, cell: one => one.errors },
            {
              key: 'tokens',
              title: say.tokens,
              isNumber: true,
              cell: one => <Num value={one.prompt_tokens + one.completion_tokens} />,
            },
          ]}
        />
      )}
    </>
  )
}
