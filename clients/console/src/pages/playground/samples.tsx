import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import type { ValidationRound, ValidationSample } from '../../../../../schemas/validation.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { ShownRows } from '../../design/notice.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Props = { onChoose: (prompt: string) => void; onClose: () => void }

/** A prompt that the models were validated with: from the newest round of a run. */
export function SampleChooser({ onChoose, onClose }: Props) {
  const say = useWords(words)
  const [run, setRun] = useState<string | null>(null)
  const runs = useQuery(reading<RunRow[]>('/api/runs', { limit: 20, sort: '-created_at' }))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setRun(String(new FormData(event.currentTarget).get('run')).trim())
  }
  return (
    <Dialog title={say.fromSample} shape="wide" onClose={onClose}>
      <form className={styles.row} onSubmit={submit}>
        <TextField label={say.run} name="run" list="runs-with-samples" required autoFocus />
        <datalist id="runs-with-samples">
          {(runs.data ?? []).map(({ short_id, name }) => (
            <option key={short_id} value={short_id}>
              {name}
            </option>
          ))}
        </datalist>
        <Button type="submit">{say.choose}</Button>
      </form>
      {run !== null && <Samples run={run} onChoose={onChoose} />}
    </Dialog>
  )
}

const shown = 20

function Samples({ run, onChoose }: { run: string; onChoose: (prompt: string) => void }) {
  const say = useWords(words)
  const path = `/api/runs/${encodeURIComponent(run)}/validation`
  const rounds = useQuery(reading<ValidationRound[]>(path, { limit: 500 }))
  const step = Math.max(-1, ...(rounds.data ?? []).map(one => one.step))
  const samples = useQuery({
    ...reading<ValidationSample[]>(`${path}/${step}`, { limit: shown }),
    enabled: step >= 0,
  })
  const none = <p>{say.noSamples}</p>
  const list = (
    <ShownRows of={samples} none={none}>
      {rows => (
        <ul className={styles.form}>
          {rows.map(({ sample_id, user }) => (
            <li key={sample_id} className={styles.row}>
              <Button onClick={() => onChoose(user ?? '')}>{say.choose}</Button>
              <span>{visible((user ?? '').slice(0, 300))}</span>
            </li>
          ))}
        </ul>
      )}
    </ShownRows>
  )
  return (
    <ShownRows of={rounds} none={none}>
      {() => list}
    </ShownRows>
  )
}
