import layout from '../../design/layout.module.css'
import { Panel } from '../../design/panel.tsx'
import { ScrollBox } from '../../design/scroll-box.tsx'
import { State } from '../../design/state.tsx'
import { Table } from '../../design/table.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { changesOf } from './changes.ts'
import type { Detail } from './paths.ts'
import { words } from './words.ts'

type OfJob = {
  spec: unknown
  gpus: number
  gates: { gate: string; ok: boolean; detail: string }[]
  estimate: { gpu_hours: string; cost: string; currency: string; basis: string } | null
}

/** What the approval is bound to. */
export function Content({ of }: { of: Detail }) {
  const say = useWords(words)
  const isJob = of.subject.type === 'job'
  return (
    <>
      {isJob && <Job job={of.content as OfJob} />}
      {of.previous && (
        <Changes run={of.previous.short_id} before={of.previous.spec} after={of.content.spec} />
      )}
      <Panel title={say.content}>
        <ScrollBox aria-label={say.content} role="group" className={layout.box}>
          <pre>{visible(JSON.stringify(isJob ? of.content.spec : of.content, null, 2))}</pre>
        </ScrollBox>
      </Panel>
    </>
  )
}

function Job({ job: { gpus, gates, estimate } }: { job: OfJob }) {
  const say = useWords(words)
  return (
    <Panel title={say.gates}>
      <p className={layout.facts}>
        <span>
          {say.gpus}: {gpus}
        </span>
        <span>
          {say.cost}:{' '}
          {estimate ? `${estimate.cost} ${estimate.currency} (${estimate.basis})` : say.unknown}
        </span>
      </p>
      <Table
        caption={say.gates}
        rows={gates}
        keyOf={one => one.gate}
        columns={[
          { key: 'gate', title: say.gates, cell: one => one.gate },
          {
            key: 'state',
            title: say.state,
            cell: one => <State state={one.ok ? 'ok' : 'failed'} />,
          },
          { key: 'detail', title: say.what, cell: one => visible(one.detail) },
        ]}
      />
    </Panel>
  )
}

type Compared = { run: string; before: unknown; after: unknown }

function Changes({ run, before, after }: Compared) {
  const say = useWords(words)
  const changes = changesOf(before, after)
  return (
    <Panel title={say.changes(run)}>
      {changes.length === 0 ? (
        <p className={layout.soft}>{say.same}</p>
      ) : (
        <Table
          caption={say.changes(run)}
          rows={changes}
          keyOf={one => one.field}
          columns={[
            { key: 'field', title: say.field, cell: one => <code>{one.field}</code> },
            { key: 'before', title: say.before, cell: one => visible(one.before) },
            { key: 'after', title: say.after, cell: one => visible(one.after) },
          ]}
        />
      )}
    </Panel>
  )
}
