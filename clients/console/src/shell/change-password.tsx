import { type FormEvent, useState } from 'react'
import { Button } from '../design/button.tsx'
import { TextField } from '../design/field.tsx'
import { Failure } from '../design/notice.tsx'
import { request } from '../session/session.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './second-factor.module.css'

const words = wordsOf({
  current: ['Current password', '当前密码'],
  new: ['New password', '新密码'],
  again: ['New password again', '再次输入新密码'],
  differs: ['The new passwords do not match.', '两次输入的新密码不一致。'],
  change: ['Change password', '修改'],
  changed: ['Changed. Your other sessions have ended.', '已修改。您的其他会话已结束。'],
})

/** Replaces the password of the person who is signed in. */
export function ChangePassword({ onDone }: { onDone: () => Promise<unknown> }) {
  const say = useWords(words)
  const [error, setError] = useState<unknown>(null)
  const [isDone, setDone] = useState(false)
  const [differs, setDiffers] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const given = new FormData(form)
    setError(null)
    setDone(false)
    setDiffers(given.get('new') !== given.get('again'))
    if (given.get('new') !== given.get('again')) return
    try {
      await request('POST', '/api/auth/password', {
        body: { current: given.get('current'), new: given.get('new') },
      })
      form.reset()
      setDone(true)
      await onDone()
    } catch (failure) {
      setError(failure)
    }
  }
  const field = { type: 'password', required: true }
  return (
    <form className={styles.form} onSubmit={event => void submit(event)}>
      <TextField label={say.current} name="current" autoComplete="current-password" {...field} />
      <TextField label={say.new} name="new" autoComplete="new-password" {...field} />
      <TextField
        label={say.again}
        name="again"
        autoComplete="new-password"
        fault={differs ? say.differs : null}
        {...field}
      />
      <Failure error={error} />
      {isDone && <p role="status">{say.changed}</p>}
      <Button type="submit" kind="main">
        {say.change}
      </Button>
    </form>
  )
}
