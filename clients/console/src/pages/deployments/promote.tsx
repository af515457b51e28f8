import type { BenchmarkDelta } from '../../../../../schemas/deployments/benchmark-delta.ts'
import { Badge } from '../../design/badge.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Num } from '../../design/number.tsx'
import { Table } from '../../design/table.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { GatedReason, gatedReason } from '../../shell/gated-reason.tsx'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Deployment, pathOf, type Revision } from './paths.ts'
import { changesOf } from './steps.ts'
import { words } from './words.ts'

type Props = {
  deployment: Deployment
  to: Revision
  from: Revision | undefined
  isRollback?: boolean
  onClose: () => void
}

/** The changes for callers of the deployment, before the pointer moves. */
export function Promote({ deployment, to, from, isRollback = false, onClose }: Props) {
  const say = useWords(words)
  const path = pathOf(deployment.deployment_id)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const { reason, override_gates } = gatedReason(given)
    if (isRollback)
      await request('POST', `${path}/rollback`, { body: { to: to.revision_id, reason } })
    else
      await request('POST', `${path}/revisions/${to.revision_id}/promote`, {
        body: {
          ...{ reason, override_gates },
          expected_promoted_revision_id: deployment.promoted_revision_id,
        },
      })
    await reread(path)
    onClose()
  })
  const title = isRollback
    ? say.rollbackOf(deployment.name, to.number)
    : say.promoteOf(to.number, deployment.name)
  return (
    <Dialog title={title} shape="wide" onClose={onClose}>
      <Changes from={from} to={to} />
      <Scores deltas={to.gates} />
      <p className={styles.soft}>{say.keepsWarm}</p>
      <form className={styles.form} onSubmit={onSubmit}>
        <GatedReason
          isGated={!isRollback && deployment.benchmark_gates.length > 0}
          override={say.override}
          autoFocus
        />
        <FormEnd
          error={error}
          isBusy={isBusy}
          text={isRollback ? say.rollback : say.promote}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

const textOf = (value: unknown): string =>
  value === null || value === undefined
    ? '–'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)

function Changes({ from, to }: { from: Revision | undefined; to: Revision }) {
  const say = useWords(words)
  const changes = changesOf(from, to)
  return (
    <>
      <h3>{say.changes}</h3>
      {changes.length === 0 ? (
        <p className={styles.soft}>{say.sameServing}</p>
      ) : (
        <Table
          caption={say.changes}
          rows={changes}
          keyOf={one => one.field}
          columns={[
            { key: 'field', title: say.field, cell: one => <code>{one.field}</code> },
            { key: 'now', title: say.now, cell: one => textOf(one.from) },
            { key: 'then', title: say.after, cell: one => textOf(one.to) },
          ]}
        />
      )}
    </>
  )
}

export function Scores({ deltas }: { deltas: readonly BenchmarkDelta[] }) {
  const say = useWords(words)
  return (
    <>
      <h3>{say.scores}</h3>
      {deltas.length === 0 ? (
        <p className={styles.soft}>{say.noScores}</p>
      ) : (
        <Table
          caption={say.scores}
          rows={deltas}
          keyOf={one => `${one.benchmark} ${one.task} ${one.metric}`}
          columns={[
            {
              key: 'benchmark',
              title: say.benchmark,
              cell: one => [one.benchmark, one.task, one.metric].filter(Boolean).join(' · '),
            },
            { key: 'now', title: say.now, isNumber: true, cell: one => <Num value={one.from} /> },
            { key: 'then', title: say.after, isNumber: true, cell: one => <Num value={one.to} /> },
            {
              key: 'delta',
              title: say.difference,
              isNumber: true,
              cell: one => (
                <span className={one.ok ? styles.good : styles.fault}>
                  {one.delta > 0 && '+'}
                  <Num value={one.delta} />
                </span>
              ),
            },
            {
              key: 'stderr',
              title: say.standardError,
              isNumber: true,
              cell: one => one.stderr !== null && <Num value={one.stderr} />,
            },
            {
              key: 'refuses',
              title: say.gate,
              cell: one => one.refuses && <Badge tone="bad">{say.refuses}</Badge>,
            },
          ]}
        />
      )}
    </>
  )
}
