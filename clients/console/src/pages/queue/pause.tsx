import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Failure } from '../../design/notice.tsx'
import { reading, reread } from '../../session/api.ts'
import { type Me, request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Queue } from './queue.ts'
import { words } from './words.ts'

/** For administrators: nothing new starts while the queue is paused, and everybody sees why. */
export function PauseButton({ queue }: { queue: Queue | undefined }) {
  const say = useWords(words)
  const me = useQuery(reading<Me>('/api/auth/me'))
  const [isAsking, setAsking] = useState(false)
  const [error, setError] = useState<unknown>(null)
  if (me.data?.role !== 'admin' || !queue) return null
  const set = async (body: { paused: boolean; reason: string | null }) => {
    setError(null)
    try {
      await request('PUT', '/api/admin/queue', { body })
      setAsking(false)
      await reread('/api/queue', '/api/admin/queue')
    } catch (failure) {
      setError(failure)
    }
  }
  const pause = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const reason = String(new FormData(event.currentTarget).get('reason')).trim()
    void set({ paused: true, reason: reason || null })
  }
  return (
    <>
      {queue.paused === null ? (
        <Button onClick={() => setAsking(true)}>{say.pause}</Button>
      ) : (
        <Button onClick={() => void set({ paused: false, reason: null })}>{say.resume}</Button>
      )}
      {!isAsking && <Failure error={error} />}
      {isAsking && (
        <Dialog title={say.pause} onClose={() => setAsking(false)}>
          <form className={styles.form} onSubmit={pause}>
            <TextField label={say.pauseReason} name="reason" maxLength={1000} autoFocus />
            <FormEnd error={error} text={say.pause} onCancel={() => setAsking(false)} />
          </form>
        </Dialog>
      )}
    </>
  )
}
