import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Select, TextField } from '../../design/field.tsx'
import { Failure } from '../../design/notice.tsx'
import { Popover } from '../../design/popover.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { fields, hparamOf, type MetricColumn, metricOf } from './columns.ts'
import type { Asked } from './complete.ts'
import { useTitle } from './head.tsx'
import styles from './page.module.css'
import { words } from './words.ts'

type Props = { columns: readonly string[]; onChange: (columns: readonly string[]) => void }

/** The available columns; metrics and hyperparameters come from the newest runs. */
export function ColumnChooser({ columns, onChange }: Props) {
  const say = useWords(words)
  const toggle = (name: string) =>
    onChange(columns.includes(name) ? columns.filter(one => one !== name) : [...columns, name])
  const named = columns.filter(name => metricOf(name) !== null || hparamOf(name) !== null)
  return (
    <Popover label={say.columns} className={styles.popover}>
      {() => (
        <>
          <NameSearch columns={columns} onToggle={toggle} />
          {[...named, ...fields].map(name => (
            <Choice key={name} name={name} isOn={columns.includes(name)} onToggle={toggle} />
          ))}
        </>
      )}
    </Popover>
  )
}

type NamesProps = { columns: readonly string[]; onToggle: (name: string) => void }

function NameSearch({ columns, onToggle }: NamesProps) {
  const say = useWords(words)
  const [text, setText] = useState('')
  const [of, setOf] = useState<MetricColumn['of']>('last')
  const metrics = useNames({ of: 'metrics', contains: text.trim() })
  const hparams = useNames({ of: 'hparams', contains: text.trim() })
  const found = [
    ...(metrics.data ?? []).map(key => `metric:${key}:${of}`),
    ...(hparams.data ?? []).map(key => `hparam:${key}`),
  ].filter(name => !columns.includes(name))
  return (
    <>
      <TextField
        label={say.findNames}
        type="search"
        autoComplete="off"
        value={text}
        onChange={event => setText(event.target.value)}
      />
      <Select
        label={say.of}
        value={of}
        choices={(['last', 'min', 'max'] as const).map(value => ({ value, text: say[value] }))}
        onChange={setOf}
      />
      <Failure error={metrics.error ?? hparams.error} />
      {metrics.data && hparams.data && found.length === 0 && (
        <p className={styles.soft}>{say.noNames}</p>
      )}
      <div className={styles.found}>
        {found.map(name => (
          <Choice key={name} name={name} isOn={false} onToggle={onToggle} />
        ))}
      </div>
    </>
  )
}

const useNames = ({ of, contains }: Asked) =>
  useQuery({
    ...reading<string[]>('/api/runs/names', { of, contains, limit: 20 }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })

type ChoiceProps = { name: string; isOn: boolean; onToggle: (name: string) => void }

function Choice({ name, isOn, onToggle }: ChoiceProps) {
  const title = useTitle(name)
  return (
    <label className={styles.choice}>
      {title}
      <input type="checkbox" checked={isOn} onChange={() => onToggle(name)} />
    </label>
  )
}
