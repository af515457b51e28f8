import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Select, TextField } from '../../design/field.tsx'
import { Failure } from '../../design/notice.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import styles from './column-list.module.css'
import { hparamOf, type MetricColumn, metricOf } from './columns.ts'
import type { Asked } from './complete.ts'
import { useTitle } from './use-title.ts'
import { words } from './words.ts'

/** The metrics and hyperparameters to choose from, where the page knows them. */
export type Names = { metrics: readonly string[]; hparams: readonly string[] }

type Props = {
  columns: readonly string[]
  onChange: (columns: readonly string[]) => void
  fields: readonly string[]
  names?: Names
}

/** The available columns: metrics and hyperparameters by name, then the chosen ones and the fields. */
export function ColumnList({ columns, onChange, fields, names }: Props) {
  const toggle = (name: string) =>
    onChange(columns.includes(name) ? columns.filter(one => one !== name) : [...columns, name])
  const named = columns.filter(name => metricOf(name) !== null || hparamOf(name) !== null)
  return (
    <>
      <NameSearch columns={columns} onToggle={toggle} names={names} />
      {[...named, ...fields].map(name => (
        <Choice key={name} name={name} isOn={columns.includes(name)} onToggle={toggle} />
      ))}
    </>
  )
}

type NamesProps = {
  columns: readonly string[]
  onToggle: (name: string) => void
  names: Names | undefined
}

function NameSearch({ columns, onToggle, names }: NamesProps) {
  const say = useWords(words)
  const [text, setText] = useState('')
  const [of, setOf] = useState<MetricColumn['of']>('last')
  const metrics = useNames({ of: 'metrics', contains: text.trim() }, names?.metrics)
  const hparams = useNames({ of: 'hparams', contains: text.trim() }, names?.hparams)
  const found = [
    ...(metrics.names ?? []).map(key => `metric:${key}:${of}`),
    ...(hparams.names ?? []).map(key => `hparam:${key}`),
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
      {metrics.names && hparams.names && found.length === 0 && (
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

const mostNames = 20

/** The names that contain a text: of those the page knows, or as the server finds them. */
function useNames({ of, contains }: Asked, known: readonly string[] | undefined) {
  const { data, error } = useQuery({
    ...reading<string[]>('/api/runs/names', { of, contains, limit: mostNames }),
    enabled: known === undefined,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
  const word = contains.toLowerCase()
  const ofPage = known?.filter(name => name.toLowerCase().includes(word)).slice(0, mostNames)
  return { names: ofPage ?? data, error }
}

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
