import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import layout from '../../design/layout.module.css'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { type Agreement, type Detail, figure, pathOf } from './paths.ts'
import { words } from './words.ts'

export function AgreementPanel({ queue }: { queue: Detail }) {
  const say = useWords(words)
  const agreement = useQuery(reading<Agreement>(`${pathOf(queue.queue_id)}/agreement`))
  return (
    <Panel title={say.agreement}>
      <Shown of={agreement}>{found => <Figures agreement={found} />}</Shown>
    </Panel>
  )
}

const levels = ['nominal', 'ordinal', 'interval'] as const

/** The deployment, for readers who may see it. */
function Judge({ of }: { of: Agreement['judges'][number]['judge'] }) {
  const say = useWords(words)
  if (of === null) return say.hiddenJudge
  return (
    <Link to="/deployments/$deployment_id" params={{ deployment_id: of.deployment_id }}>
      {of.deployment_id}
    </Link>
  )
}

function Figures({ agreement: { measures, judge, judges, kind } }: { agreement: Agreement }) {
  const say = useWords(words)
  const nameOf = (name: string) =>
    kind === 'rubric' ? visible(name) : name === 'choice' ? say.choice : say.text
  const judged = judges.flatMap((one, nth) =>
    one.measures.map(of => ({ ...of, judge: one.judge, by: String(nth) })),
  )
  const kappas = measures.flatMap(({ name, kappa }) => kappa.map(one => ({ name, ...one })))
  return (
    <>
      {measures.every(({ items }) => items === 0) ? (
        <p className={layout.soft}>{say.noAgreement}</p>
      ) : (
        <Table
          caption={say.agreement}
          keyOf={one => one.name}
          rows={measures}
          columns={[
            { key: 'of', title: say.measure, cell: one => nameOf(one.name) },
            { key: 'items', title: say.items, isNumber: true, cell: one => one.items },
            { key: 'equal', title: say.equal, isNumber: true, cell: one => figure(one.equal) },
            ...levels.map(level => ({
              key: level,
              title: say[level],
              isNumber: true,
              cell: (one: Agreement['measures'][number]) => figure(one.alpha[level]),
            })),
          ]}
        />
      )}
      {kappas.length > 0 && (
        <Table
          caption={say.kappa}
          keyOf={one => `${one.name} ${one.people.join(' ')}`}
          rows={kappas}
          columns={[
            { key: 'pair', title: say.pair, cell: one => one.people.join(', ') },
            { key: 'of', title: say.measure, cell: one => nameOf(one.name) },
            { key: 'items', title: say.items, isNumber: true, cell: one => one.items },
            { key: 'kappa', title: say.kappa, isNumber: true, cell: one => figure(one.kappa) },
          ]}
        />
      )}
      {judged.length > 0 && (
        <Table
          caption={say.againstDeployments}
          keyOf={one => `${one.by} ${one.name}`}
          rows={judged}
          columns={[
            { key: 'judge', title: say.judge, cell: one => <Judge of={one.judge} /> },
            { key: 'of', title: say.measure, cell: one => nameOf(one.name) },
            { key: 'items', title: say.items, isNumber: true, cell: one => one.items },
            { key: 'equal', title: say.equal, isNumber: true, cell: one => figure(one.equal) },
            { key: 'kappa', title: say.kappa, isNumber: true, cell: one => figure(one.kappa) },
            ...levels.map(level => ({
              key: level,
              title: say[level],
              isNumber: true,
              cell: (one: (typeof judged)[number]) => figure(one.alpha[level]),
            })),
          ]}
        />
      )}
      {judge.items > 0 && (
        <p>
          {say.againstJudge(judge.items)}:{' '}
          {kind === 'pairwise'
            ? `${say.equal} ${figure(judge.equal)} · ${say.kappa} ${figure(judge.kappa)}`
            : `${say.correlation} ${figure(judge.correlation)}`}
        </p>
      )}
    </>
  )
}
