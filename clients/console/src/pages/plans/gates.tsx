import { Badge } from '../../design/badge.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { Detail } from './paths.ts'
import { words } from './words.ts'

/** Refusals and warnings, or that there are none. */
export function Gates({ plan: { gates, warnings } }: { plan: Detail }) {
  const say = useWords(words)
  const rows = [
    ...gates.flatMap(({ stage, gate, ok, detail }) =>
      ok ? [] : [{ stage, name: gate, detail, tone: 'bad' as const, word: say.refuses }],
    ),
    ...warnings.map(({ stage, code, detail }) => ({
      ...{ stage, name: code, detail, tone: 'warn' as const, word: say.warning },
    })),
  ]
  return (
    <Panel title={say.gates}>
      {gates.every(({ ok }) => ok) && <p>{say.allPass(`${gates.length}`)}</p>}
      {rows.length > 0 && (
        <Table
          caption={say.gates}
          rows={rows}
          keyOf={one => `${one.stage} ${one.name} ${one.detail}`}
          columns={[
            { key: 'stage', title: say.stage, cell: one => one.stage },
            {
              key: 'state',
              title: say.state,
              cell: one => <Badge tone={one.tone}>{one.word}</Badge>,
            },
            { key: 'what', title: say.what, cell: one => `${one.name}: ${visible(one.detail)}` },
          ]}
        />
      )}
    </Panel>
  )
}
