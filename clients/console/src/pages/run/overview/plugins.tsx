import { useQuery } from '@tanstack/react-query'
import { Panel } from '../../../design/panel.tsx'
import { reading } from '../../../session/api.ts'
import { SpecChanges } from '../../../shell/spec-changes.tsx'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import type { JobDetail } from '../phases.ts'
import { pathOfJob, type RunRecord } from '../use-run.ts'
import { words } from './words.ts'

/** What plugins said about a job and changed in it, if there were any. */
export function Plugins({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const job = useQuery({
    ...reading<JobDetail>(pathOfJob(run.run_id)),
    enabled: run.job_exists,
  })
  const gates = job.data?.admission?.gates ?? []
  const ofPlugins = gates.filter(({ gate }) => gate.startsWith('plugin:'))
  if (ofPlugins.length === 0) return null
  return (
    <Panel title={say.plugins}>
      {ofPlugins.map(({ gate, detail, data }) => (
        <div key={`${gate} ${detail}`}>
          <p>
            <strong>{gate.slice('plugin:'.length)}</strong> {visible(detail)}
          </p>
          <SpecChanges data={data} />
        </div>
      ))}
    </Panel>
  )
}
