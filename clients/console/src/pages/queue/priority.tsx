import { type FormEvent, useState } from 'react'
import type { QueueRow } from '../../../../../schemas/queue.ts'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

/** Changes the settings that decide a job's place in the queue. The server refuses callers without the right. */
export function PriorityDialog({ job, onClose }: { job: QueueRow; onClose: () => void }) {
  const say = useWords(words)
  const [error, setError] = useState<unknown>(null)
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const priority = Number(new FormData(event.currentTarget).get('priority'))
    try {
      await request('PATCH', `/api/jobs/${job.run_id}`, { body: { priority } })
      onClose()
      await reread('/api/queue', '/api/jobs')
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <Dialog title={say.priorityOf(job.short_id, job.priority)} onClose={onClose}>
      <form className={styles.form} onSubmit={event => void save(event)}>
        <TextField
          label={say.priority}
          hint={say.priorityHelp}
          name="priority"
          type="number"
          min={-100}
          max={100}
          required
          autoFocus
          defaultValue={job.priority}
        />
        <FormEnd error={error} text={say.save} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
