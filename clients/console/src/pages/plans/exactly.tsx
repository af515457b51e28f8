import { useQuery } from '@tanstack/react-query'
import { Panel } from '../../design/panel.tsx'
import { ScrollBox } from '../../design/scroll-box.tsx'
import { Table } from '../../design/table.tsx'
import { Differences } from '../../job-specs/differences.tsx'
import { said, type Tree } from '../../job-specs/tree.ts'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Detail, Stage } from './paths.ts'
import { words } from './words.ts'

/** What each stage runs, and how it differs from the newest run of its recipe that is not of the plan itself. */
export const Exactly = ({ plan }: { plan: Detail }) =>
  plan.stages.map(stage => <OfStage key={stage.name} plan={plan} stage={stage} />)

function OfStage({ plan, stage }: { plan: Detail; stage: Stage }) {
  const say = useWords(words)
  const { name, spec, deploy, sweep } = stage
  return (
    <>
      <Panel title={`${say.exactly}: ${name}`}>
        {sweep && <Params params={sweep.params} />}
        <ScrollBox className={styles.spec} aria-label={`${say.exactly}: ${name}`} role="group">
          <code>{JSON.stringify(spec ? said(spec) : deploy, null, 2)}</code>
        </ScrollBox>
      </Panel>
      {spec && <SinceLast plan={plan} name={name} spec={spec} />}
    </>
  )
}

type Swept = NonNullable<Stage['sweep']>['params']

function Params({ params }: { params: Swept }) {
  const say = useWords(words)
  return (
    <Table
      caption={say.param}
      rows={Object.entries(params)}
      keyOf={([name]) => name}
      columns={[
        { key: 'param', title: say.param, cell: ([name]) => <code>{name}</code> },
        {
          key: 'values',
          title: say.values,
          cell: ([, { values, min, max, scale = 'linear' }]) =>
            values
              ? values.map(value => JSON.stringify(value)).join(', ')
              : `${min} … ${max} (${scale})`,
        },
      ]}
    />
  )
}

type JobRow = { run_id: string; short_id: string; recipe: { name: string } }

type OfJob = { plan: Detail; name: string; spec: NonNullable<Stage['spec']> }

function SinceLast({ plan, name, spec }: OfJob) {
  const { project } = spec.metadata
  const recipe = spec.lock.name
  const rows = useQuery(reading<JobRow[]>('/api/jobs', { project, recipe, limit: 100 }))
  const last = rows.data?.find(({ run_id }) => !plan.submitted_run_ids.includes(run_id))
  return last ? <Since last={last} name={name} spec={spec} /> : null
}

function Since({ last, name, spec }: { last: JobRow; name: string; spec: Tree }) {
  const job = useQuery(reading<{ spec: Tree }>(`/api/jobs/${encodeURIComponent(last.run_id)}`))
  return job.data ? (
    <Differences part={name} run={last.short_id} before={job.data.spec} now={spec} />
  ) : null
}
