import { useSyncExternalStore } from 'react'
import { Button } from '../design/button.tsx'
import { Dialog } from '../design/dialog.tsx'
import { TextField } from '../design/field.tsx'
import { FormEnd } from '../design/form-end.tsx'
import { type Refused, refused } from '../session/confirmation.ts'
import { request } from '../session/session.ts'
import { useSubmit } from '../session/use-submit.ts'
import { useLanguage, useWords, wordsOf } from '../words/words.ts'
import { nameOfAct } from './acts.ts'
import styles from './sign-in.module.css'
import { ProviderLink, useWaysToSignIn } from './sign-in.tsx'

const words = wordsOf({
  title: ['Confirm that it is you', '请确认是您本人'],
  needs: [
    (act: string) => `${act}: this needs a sign-in of the last 15 minutes.`,
    (act: string) => `${act}：需要最近 15 分钟内的登录。`,
  ],
  repeat: ['Then do it again.', '然后请重试该操作。'],
  password: ['Your password', '您的密码'],
  confirm: ['Confirm', '确认'],
  cancel: ['Cancel', '取消'],
})

/** Asks who it is, while a request waits for that. */
export function Confirm() {
  const now = useSyncExternalStore(refused.subscribe, refused.get)
  return now && <Ask refused={now} />
}

function Ask({ refused: { method, path, by, end } }: { refused: Refused }) {
  const say = useWords(words)
  const language = useLanguage()
  const act = nameOfAct(method, path)?.[language === 'zh' ? 1 : 0] ?? `${method} ${path}`
  return (
    <Dialog title={say.title} onClose={() => end(false)}>
      <div className={styles.form}>
        <p>{say.needs(act)}</p>
        {by === 'password' ? <PasswordForm onConfirmed={() => end(true)} /> : <AtProvider />}
        <Button onClick={() => end(false)}>{say.cancel}</Button>
      </div>
    </Dialog>
  )
}

function AtProvider() {
  const say = useWords(words)
  const ways = useWaysToSignIn().data
  return (
    <>
      {ways && <ProviderLink ways={ways} ask />}
      <p>{say.repeat}</p>
    </>
  )
}

function PasswordForm({ onConfirmed }: { onConfirmed: () => void }) {
  const say = useWords(words)
  const { onSubmit, ...sending } = useSubmit(async given => {
    await request('POST', '/api/auth/confirm', { body: { password: given.get('password') } })
    onConfirmed()
  })
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <TextField
        label={say.password}
        name="password"
        type="password"
        autoComplete="current-password"
        autoFocus
        required
      />
      <FormEnd text={say.confirm} {...sending} />
    </form>
  )
}
