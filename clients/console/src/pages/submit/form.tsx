import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { Profile } from '../../../../../schemas/profiles.ts'
import type { Recipe } from '../../../../../schemas/recipes.ts'
import { Field as Labelled, Select, TextField } from '../../design/field.tsx'
import type { Tree } from '../../job-specs/tree.ts'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { type Field, fieldsOf, fieldTextOf, meantBy } from './fields.ts'
import styles from './page.module.css'
import { valueAt } from './spec.ts'
import { words } from './words.ts'

type Put = (path: readonly string[], value: unknown) => void

type Props = { tree: Tree; recipe: Recipe | null; put: Put; isOff: boolean }

export function Form({ tree, recipe, put, isOff }: Props) {
  const say = useWords(words)
  // The same fields as long as the recipe is the same, so that typed text stays.
  const fields = useMemo(() => (recipe ? fieldsOf(recipe) : []), [recipe])
  return (
    <>
      {isOff && <p role="status">{say.broken}</p>}
      <fieldset className={styles.fields} disabled={isOff} aria-label={say.form}>
        <About tree={tree} put={put} />
      </fieldset>
      <h3>{say.params}</h3>
      {fields.length === 0 && <p className={styles.soft}>{say.noParams}</p>}
      <fieldset className={styles.fields} disabled={isOff} aria-label={say.params}>
        {fields.map(field => (
          <Parameter
            key={field.key}
            field={field}
            value={valueAt(tree, ['spec', 'params', field.key])}
            onChange={value => put(['spec', 'params', field.key], value)}
          />
        ))}
      </fieldset>
    </>
  )
}

const plain = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

function About({ tree, put }: { tree: Tree; put: Put }) {
  const say = useWords(words)
  const profiles = useQuery(reading<Profile[]>('/api/profiles'))
  const at = (...path: string[]) => plain(valueAt(tree, path))
  const count = (label: string, path: readonly string[], min: number) => (
    <TextField
      label={label}
      type="number"
      min={min}
      value={at(...path)}
      onChange={({ target }) => put(path, target.value === '' ? undefined : Number(target.value))}
    />
  )
  const profile = at('spec', 'resources', 'profile')
  const names = new Set([...(profiles.data ?? []).map(one => one.name), profile])
  names.delete('')
  return (
    <>
      <TextField
        label={say.name}
        value={at('metadata', 'name')}
        onChange={event => put(['metadata', 'name'], event.target.value)}
      />
      <TextField
        label={say.project}
        value={at('metadata', 'project')}
        onChange={event => put(['metadata', 'project'], event.target.value)}
      />
      <Select
        label={say.profile}
        value={profile}
        choices={[
          { value: '', text: say.anyProfile },
          ...[...names].map(value => ({ value, text: value })),
        ]}
        onChange={next => put(['spec', 'resources', 'profile'], next || undefined)}
      />
      {count(say.gpus, ['spec', 'resources', 'gpus_per_node'], 0)}
      {count(say.nodes, ['spec', 'resources', 'nodes'], 1)}
    </>
  )
}

type ParameterProps = { field: Field; value: unknown; onChange: (value: unknown) => void }

function Parameter({ field, value, onChange }: ParameterProps) {
  const say = useWords(words)
  const shown = fieldTextOf(field, value)
  const [text, setText] = useState(shown)
  const meant = meantBy(field, text)
  const isFault = 'fault' in meant
  // The value in the YAML, unless this field says the same in other words: `1.` on the way to `1.5`.
  useEffect(() => {
    setText(before => {
      const said = meantBy(field, before)
      return 'value' in said && fieldTextOf(field, said.value) === shown ? before : shown
    })
  }, [shown, field])
  const set = (next: string) => {
    setText(next)
    const said = meantBy(field, next)
    if ('value' in said) onChange(said.value)
  }
  const fallback = field.fallback === undefined ? '' : JSON.stringify(field.fallback)
  const hint = [field.description, limits(field), fallback && say.fallback(fallback)]
  const about = { label: field.key, hint: hint.filter(Boolean).join('; ') }
  const choices = field.kind === 'boolean' ? [true, false] : field.choices
  if (choices.length > 0)
    return (
      <Labelled {...about}>
        {given => (
          <select
            {...given}
            className={styles.input}
            value={shown}
            onChange={event => set(event.target.value)}
          >
            <option value="">{say.usual(fallback || '–')}</option>
            {choices.map(choice => (
              <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
                {String(choice)}
              </option>
            ))}
          </select>
        )}
      </Labelled>
    )
  return (
    <TextField
      {...about}
      value={text}
      placeholder={fallback}
      required={field.isRequired}
      inputMode={field.kind === 'number' || field.kind === 'integer' ? 'decimal' : 'text'}
      fault={isFault ? say.notValid : null}
      onChange={event => set(event.target.value)}
    />
  )
}

const limits = ({ min, max }: Field) =>
  min === null && max === null ? '' : `${min ?? ''} … ${max ?? ''}`.trim()
