import { Popover } from 'radix-ui'
import { type FormEvent, useId } from 'react'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { useWords } from '../../words/words.ts'
import { fields, metricOf } from './columns.ts'
import styles from './page.module.css'
import { useTitle } from './table.tsx'
import { words } from './words.ts'

type Props = {
  columns: readonly string[]
  /** Keys that runs on screen have, offered while one is typed. */
  metrics: readonly string[]
  onChange: (columns: readonly string[]) => void
}

export function ColumnChooser({ columns, metrics, onChange }: Props) {
  const say = useWords(words)
  const id = useId()
  const toggle = (name: string) =>
    onChange(columns.includes(name) ? columns.filter(one => one !== name) : [...columns, name])
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const key = String(given.get('key')).trim()
    const name = `metric:${key}:${given.get('of')}`
    if (key !== '' && !key.includes(',') && !columns.includes(name)) onChange([...columns, name])
    event.currentTarget.reset()
  }
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button>{say.columns}</Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className={styles.popover} align="end" sideOffset={4} collisionPadding={8}>
          {fields.map(name => (
            <Choice key={name} name={name} isOn={columns.includes(name)} onToggle={toggle} />
          ))}
          {columns
            .filter(name => metricOf(name) !== null)
            .map(name => (
              <Choice key={name} name={name} isOn onToggle={toggle} />
            ))}
          <form onSubmit={add} className={styles.search}>
            <TextField label={say.addMetric} name="key" list={`${id}-keys`} autoComplete="off" />
            <datalist id={`${id}-keys`}>
              {metrics.map(key => (
                <option key={key} value={key} />
              ))}
            </datalist>
            <span className={styles.choice}>
              <select name="of" aria-label={say.of} className={styles.input}>
                <option>last</option>
                <option>min</option>
                <option>max</option>
              </select>
              <Button type="submit">{say.add}</Button>
            </span>
          </form>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
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
