import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { Artifact } from '../../../../../../schemas/artifacts/artifacts.ts'
import { Checkbox } from '../../../design/field.tsx'
import { More } from '../../../design/more.tsx'
import { Empty, ShownRows } from '../../../design/notice.tsx'
import { LineagePanel } from '../../../lineage/lineage.tsx'
import { reading } from '../../../session/api.ts'
import { usePages } from '../../../session/use-pages.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { Artifacts } from './artifacts.tsx'
import type { LineageOfRun } from './lineage-of-run.ts'
import styles from './tab.module.css'
import { useAddress } from './use-address.ts'
import { words } from './words.ts'

/** The artifacts of a run, and the runs before and after it. */
export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const { deleted } = useSearch({ strict: false })
  const go = useAddress(run)
  const path = pathOfRun(run.run_id)
  const list = usePages<Artifact>(`${path}/artifacts`, {
    query: { status: deleted === undefined ? undefined : 'all' },
    size: 200,
    keyOf: ({ artifact_id }) => artifact_id,
    everyMs: 10_000,
  })
  const lineage = useQuery(reading<LineageOfRun>(`${path}/lineage`))
  const withDeleted = (
    <Checkbox
      label={say.showDeleted}
      checked={deleted !== undefined}
      onChange={({ target }) => go({ deleted: target.checked ? '1' : undefined })}
    />
  )
  return (
    <div className={styles.tab}>
      <ShownRows
        of={list}
        none={
          <>
            {withDeleted}
            <Empty
              text={say.none}
              command={'forge.log_artifact("checkpoint", "model.pt", "torch", step=step)'}
            />
          </>
        }
      >
        {rows => (
          <>
            <Artifacts run={run} rows={rows} runs={lineage.data?.runs ?? []}>
              {withDeleted}
            </Artifacts>
            <More of={list} />
          </>
        )}
      </ShownRows>
      <LineagePanel path={`runs/${run.run_id}`}>
        <Resumed lineage={lineage.data} artifacts={list.data ?? []} />
      </LineagePanel>
    </div>
  )
}

type ResumedProps = { lineage: LineageOfRun | undefined; artifacts: readonly Artifact[] }

/** The checkpoints from which attempts continued: by kind and step, those of other runs by the end of their ids. */
function Resumed({ lineage, artifacts }: ResumedProps) {
  const say = useWords(words)
  const nameOf = (id: string) => {
    const known = artifacts.find(({ artifact_id }) => artifact_id === id)
    if (!known) return `…${id.slice(-6)}`
    return known.step === null ? known.kind : `${known.kind} · ${say.atStep(known.step)}`
  }
  return lineage?.resumed.map(({ attempt, artifact_id }) => (
    <p key={attempt} className={styles.soft}>
      {say.resumed(attempt, nameOf(artifact_id))}
    </p>
  ))
}
