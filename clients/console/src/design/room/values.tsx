import { useState } from 'react'
import { Badge, type Tone } from '../badge.tsx'
import { CodeBlock, Copyable } from '../copy.tsx'
import { Id } from '../id.tsx'
import { Figure, Figures, Num } from '../number.tsx'
import { State } from '../state.tsx'
import { Table } from '../table.tsx'
import { Ago, Length } from '../time.tsx'
import styles from './page.module.css'

const tones: readonly Tone[] = ['active', 'good', 'bad', 'warn', 'wait', 'soft']
const states = [
  ...['pending', 'queued', 'scheduled', 'starting', 'running', 'pausing', 'paused', 'stopping'],
  ...['succeeded', 'failed', 'stopped', 'abandoned', 'ready', 'degraded', 'suspended', 'retired'],
]
const numbers = [0, 1, -1.5, 0.000123456, 123_456, 1_234_567, 1e32, 'NaN', '-Infinity'] as const
const longName = `a-name-of-128-characters-${'x'.repeat(103)}`

/** Numbers, times, ids and states: each has one look. */
export function Values() {
  const [now] = useState(() => new Date().toISOString())
  return (
    <div className={styles.stack}>
      <h3>States</h3>
      <p className={styles.row}>
        {states.map(state => (
          <State key={state} state={state} />
        ))}
      </p>
      <p className={styles.row}>
        {tones.map(tone => (
          <Badge key={tone} tone={tone}>
            {tone}
          </Badge>
        ))}
      </p>
      <h3>Figures</h3>
      <Figures>
        <Figure value={0.123456} name="validation loss" hint="at step 12,000" />
        <Figure value={98.765} name="accuracy, %" />
      </Figures>
      <h3>Numbers, times, ids</h3>
      <Table
        caption="Numbers, times, ids"
        rows={numbers}
        keyOf={String}
        columns={[
          { key: 'id', title: 'Id', cell: () => <Id id="run_01J00000000000000000000000" /> },
          { key: 'name', title: 'Name', cell: one => (one === 0 ? longName : '名称 🚀') },
          { key: 'at', title: 'Created', cell: () => <Ago at={now} /> },
          { key: 'for', title: 'Duration', cell: () => <Length from={now} to={null} /> },
          { key: 'number', title: 'Loss', isNumber: true, cell: one => <Num value={one} /> },
        ]}
      />
      <Copyable text="forge submit -f job.yaml" />
      <CodeBlock
        name="curl"
        text={'curl https://forge.example/v1/models \\\n  -H "Authorization: …"'}
      />
    </div>
  )
}
