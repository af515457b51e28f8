import { type FormEvent, type KeyboardEvent, useEffect, useRef } from 'react'
import { Button } from '../../../design/button.tsx'
import { TextField } from '../../../design/field.tsx'
import { useWords } from '../../../words/words.ts'
import { type Filter, filterNames, filterOf } from './filter.ts'
import type { Way } from './hits.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

type FiltersProps = {
  filter: Filter
  onChange: (change: Record<string, string | undefined>) => void
  /** The same search once more: to its next or its previous hit. */
  onAgain: (way: Way) => void
}

/** The search form. Enter on an unchanged search goes to the next hit, with Shift to the previous one. */
export function Filters({ filter, onChange, onAgain }: FiltersProps) {
  const say = useWords(words)
  const form = useRef<HTMLFormElement>(null)
  const shown = JSON.stringify(filter)
  // The fields follow the address without losing the focus.
  useEffect(() => showIn(form.current, JSON.parse(shown)), [shown])
  const send = (way: Way) => {
    if (form.current === null || !form.current.reportValidity()) return
    const given = [...new FormData(form.current)]
    const asked = filterOf(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))
    const isSame = filterNames.every(name => asked[name] === filter[name])
    if (isSame && Object.keys(filter).length > 0) onAgain(way)
    else onChange(asked)
  }
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    send('next')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send('prev')
  }
  return (
    <form ref={form} role="search" className={styles.filters} {...{ onSubmit, onKeyDown }}>
      <TextField label={say.search} name="text" type="search" maxLength={256} title={say.keys} />
      <label title={say.regexHelp}>
        <input type="checkbox" name="isRegex" /> {say.regex}
      </label>
      <TextField label={say.rank} name="rank" inputMode="numeric" pattern="\d*" />
      <TextField label={say.attempt} name="attempt" inputMode="numeric" pattern="\d*" />
      <TextField label={say.node} name="node" />
      <TextField label={say.stream} name="stream" list="log-streams" />
      <datalist id="log-streams">
        <option value="stdout" />
        <option value="stderr" />
      </datalist>
      <Button type="submit">{say.find}</Button>
    </form>
  )
}

function showIn(form: HTMLFormElement | null, filter: Filter): void {
  const shown: Record<string, string | undefined> = { ...filter, text: filter.regex ?? filter.grep }
  for (const field of form?.elements ?? []) {
    if (!(field instanceof HTMLInputElement)) continue
    if (field.type === 'checkbox') field.checked = filter.regex !== undefined
    else field.value = shown[field.name] ?? ''
  }
}
