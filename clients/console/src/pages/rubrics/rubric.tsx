import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Field, Select, TextField } from '../../design/field.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { reading, reread } from '../../session/api.ts'
import { ownedPath } from '../../session/owned-path.ts'
import { type Me, request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Rubric } from './page.tsx'
import { Test } from './test.tsx'
import { words } from './words.ts'

type Draft = Pick<
  Rubric,
  'name' | 'description' | 'scale_min' | 'scale_max' | 'visibility' | 'criteria'
>

const empty: Draft = {
  name: '',
  description: '',
  scale_min: 0,
  scale_max: 1,
  visibility: 'private',
  criteria: [{ name: '', weight: 1, description: '' }],
}

/** A rubric, or at `me/new` a new one. */
export function Page() {
  const { owner = '', name = '' } = useParams({ strict: false })
  const me = useQuery(reading<Me>('/api/auth/me'))
  const isNew = owner === 'me' && name === 'new'
  const found = useQuery({
    ...reading<Rubric>(ownedPath('rubrics', { owner, name })),
    enabled: !isNew,
  })
  return (
    <Shown of={me}>
      {who =>
        isNew ? (
          <Editor owner={who.username} first={empty} version={null} isOwn />
        ) : (
          <Shown of={found}>
            {rubric => (
              <Editor
                key={rubric.version}
                owner={owner}
                first={rubric}
                version={rubric.version}
                isOwn={who.username === owner || who.role === 'admin'}
              />
            )}
          </Shown>
        )
      }
    </Shown>
  )
}

type EditorProps = { owner: string; first: Draft; version: number | null; isOwn: boolean }

function Editor({ owner, first, version, isOwn }: EditorProps) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [draft, setDraft] = useState(first)
  const [error, setError] = useState<unknown>(null)
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change })
  const save = async (event: FormEvent) => {
    event.preventDefault()
    const { name, description, scale_min, scale_max, visibility, criteria } = draft
    try {
      await request('PUT', ownedPath('rubrics', { owner, name }), {
        body: { name, description, scale_min, scale_max, visibility, criteria },
      })
      setError(null)
      await reread('/api/rubrics')
      void navigate({ to: '/rubrics/$owner/$name', params: { owner, name } })
    } catch (failure) {
      setError(failure)
    }
  }
  const { name: named, description, scale_min, scale_max, visibility, criteria } = draft
  return (
    <div className={styles.page}>
      <form className={styles.page} onSubmit={event => void save(event)}>
        <h1>{version === null ? say.new : `${owner}/${first.name}`}</h1>
        {version !== null && <p className={styles.soft}>{say.versionOf(version)}</p>}
        {version === null && (
          <TextField
            label={say.name}
            required
            maxLength={128}
            value={draft.name}
            onChange={event => set({ name: event.target.value })}
          />
        )}
        <Field label={say.description}>
          {given => (
            <textarea
              {...given}
              rows={3}
              maxLength={4000}
              className={styles.area}
              value={draft.description}
              onChange={event => set({ description: event.target.value })}
            />
          )}
        </Field>
        <div className={styles.row}>
          <TextField
            label={say.least}
            type="number"
            step="any"
            value={draft.scale_min}
            onChange={event => set({ scale_min: Number(event.target.value) })}
          />
          <TextField
            label={say.most}
            type="number"
            step="any"
            value={draft.scale_max}
            onChange={event => set({ scale_max: Number(event.target.value) })}
          />
          <Select
            label={say.visibility}
            value={draft.visibility}
            choices={(['private', 'public'] as const).map(value => ({ value, text: say[value] }))}
            onChange={visibility => set({ visibility })}
          />
        </div>
        <Criteria criteria={draft.criteria} onChange={criteria => set({ criteria })} />
        <Failure error={error} />
        <div className={styles.row}>
          <Button type="submit" kind="main" unless={!isOwn && say.notYours}>
            {say.save}
          </Button>
        </div>
      </form>
      {version !== null && (
        <Test
          path={`/api/rubrics/${encodeURIComponent(owner)}/${encodeURIComponent(first.name)}`}
          draft={{ name: named, description, scale_min, scale_max, visibility, criteria }}
        />
      )}
    </div>
  )
}

const mostCriteria = 20

type CriteriaProps = {
  criteria: Draft['criteria']
  onChange: (criteria: Draft['criteria']) => void
}

function Criteria({ criteria, onChange }: CriteriaProps) {
  const say = useWords(words)
  const set = (nth: number, change: Partial<Draft['criteria'][number]>) =>
    onChange(criteria.map((one, at) => (at === nth ? { ...one, ...change } : one)))
  return (
    <fieldset className={styles.criteria}>
      <legend>{say.criteria}</legend>
      {[...criteria.entries()].map(([nth, one]) => (
        <div key={nth} className={styles.criterion}>
          <TextField
            label={say.criterion}
            required
            value={one.name}
            onChange={event => set(nth, { name: event.target.value })}
          />
          <TextField
            label={say.weight}
            type="number"
            step="any"
            value={one.weight}
            onChange={event => set(nth, { weight: Number(event.target.value) })}
          />
          <TextField
            label={say.description}
            value={one.description}
            onChange={event => set(nth, { description: event.target.value })}
          />
          <Button
            kind="quiet"
            unless={criteria.length === 1 && say.oneAtLeast}
            onClick={() => onChange(criteria.filter((_, at) => at !== nth))}
          >
            {say.remove}
          </Button>
        </div>
      ))}
      <Button
        unless={criteria.length >= mostCriteria && say.enough}
        onClick={() => onChange([...criteria, { name: '', weight: 1, description: '' }])}
      >
        {say.add}
      </Button>
    </fieldset>
  )
}
