import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { TablePanel } from '../../design/table-panel.tsx'
import { usePart } from '../../design/use-part.ts'
import { LineagePanel } from '../../lineage/lineage.tsx'
import { reading, reread } from '../../session/api.ts'
import { usePages, whileUnderWay } from '../../session/use-pages.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Environment, pathOf, pathOfVersion, type Use, type VersionDetail } from './paths.ts'
import { Rollouts } from './rollouts.tsx'
import { words } from './words.ts'

type Props = { environment: Environment; version: string }

/** What a version is, how it was tried, and who uses it. */
export function ShownVersion({ environment, version }: Props) {
  const found = useQuery({
    ...reading<VersionDetail>(pathOfVersion(environment, version)),
    refetchInterval: ({ state: { data } }) => whileUnderWay(data?.state === 'building'),
  })
  return <Shown of={found}>{one => <Parts environment={environment} version={one} />}</Shown>
}

type PartsProps = { environment: Environment; version: VersionDetail }

function Parts({ environment, version }: PartsProps) {
  const say = useWords(words)
  const { ref, state, error, log, deprecated_reason } = version
  const path = pathOfVersion(environment, version.version)
  return (
    <>
      <Panel title={ref} actions={<Actions {...{ environment, version }} />}>
        <p>
          <State state={state} />
        </p>
        {error !== null && <p role="alert">{visible(error)}</p>}
        {deprecated_reason !== null && <p>{say.deprecatedBecause(visible(deprecated_reason))}</p>}
        {state === 'building' && <p role="status">{say.building}</p>}
        <Facts of={version} />
      </Panel>
      {state !== 'building' && <Rollouts of={version} />}
      {state !== 'building' && (
        <Panel title={say.log}>
          {log === '' ? (
            <p className={layout.soft}>{say.noLog}</p>
          ) : (
            // Focusable, because it scrolls.
            <pre className={styles.log} tabIndex={0} aria-label={say.log} role="group">
              {visible(log)}
            </pre>
          )}
        </Panel>
      )}
      <Uses path={path} />
      <LineagePanel path={path.slice('/api/'.length)} />
    </>
  )
}

function Facts({ of }: { of: VersionDetail }) {
  const say = useWords(words)
  const { min, max } = of.reward
  const facts: [string, string][] = [
    [say.entry, of.entry],
    [say.digest, of.digest],
    [say.args, JSON.stringify(of.args_default)],
    ...(min !== null && max !== null ? ([[say.range, `${min} – ${max}`]] as const) : []).map(
      ([title, value]): [string, string] => [title, value],
    ),
    ...listed(say.packages, of.requirements),
    ...listed(say.tools, of.tools),
    ...listed(say.secrets, of.secrets_required),
  ]
  return (
    <p className={layout.facts}>
      {facts.map(([title, value]) => (
        <span key={title}>
          {title}: {visible(value)}
        </span>
      ))}
    </p>
  )
}

const listed = (title: string, values: readonly string[]): [string, string][] =>
  values.length === 0 ? [] : [[title, values.join(', ')]]

/** Runs that used a version. */
function Uses({ path }: { path: string }) {
  const say = useWords(words)
  const uses = usePages<Use>(`${path}/used-by`, { size: 50, keyOf: one => one.run_id })
  return (
    <TablePanel
      title={say.uses}
      of={uses}
      none={<p className={layout.soft}>{say.noUses}</p>}
      keyOf={one => one.run_id}
      columns={[
        {
          key: 'name',
          title: say.name,
          cell: ({ run_id, name }) => <RunLink id={run_id} name={name} />,
        },
        { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
        { key: 'weight', title: say.weight, isNumber: true, cell: one => one.weight },
        {
          key: 'digest',
          title: say.digest,
          cell: ({ digest }) => <code title={digest}>{digest.slice(0, 19)}</code>,
        },
        { key: 'owner', title: say.owner, cell: one => one.owner },
      ]}
    />
  )
}

const RunLink = ({ id, name = id }: { id: string; name?: string }) => (
  <Link to="/runs/$run_id" params={{ run_id: id }} title={id}>
    {visible(name)}
  </Link>
)

const loadActs = () => import('../../shell/version-acts.tsx')

function Actions({ environment, version: { version, ref, state } }: PartsProps) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [opened, setOpened] = useState<'deprecate' | 'delete' | null>(null)
  const acts = usePart(opened === null ? null : loadActs)
  if (!environment.may_write) return null
  const { owner, name } = environment
  const of = { ref, path: pathOfVersion(environment, version), onClose: () => setOpened(null) }
  return (
    <div className={layout.row}>
      {state === 'ready' && <Button onClick={() => setOpened('deprecate')}>{say.deprecate}</Button>}
      <Button isDangerous onClick={() => setOpened('delete')}>
        {say.delete}
      </Button>
      {acts && opened === 'deprecate' && (
        <acts.DeprecateVersion {...of} lists={[pathOf(environment), '/api/environments']} />
      )}
      {acts && opened === 'delete' && (
        <acts.DeleteVersion<'run'>
          {...of}
          inUse="environment.in_use"
          link={({ id }) => <RunLink id={id} />}
          onDeleted={async () => {
            const to = '/environments/$owner/$name'
            await navigate({ to, params: { owner, name }, search: {} })
            await reread('/api/environments')
          }}
        />
      )}
    </div>
  )
}
