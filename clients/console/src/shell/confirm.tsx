import { useSyncExternalStore } from 'react'
import { Button } from '../design/button.tsx'
import { Dialog } from '../design/dialog.tsx'
import { type Refused, refused } from '../session/confirmation.ts'
import { request } from '../session/session.ts'
import { useLanguage, useWords, wordsOf } from '../words/words.ts'
import { nameOfAct } from './acts.ts'
import { PasswordForm } from './password-form.tsx'
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
        {by === 'password' ? (
          <PasswordForm
            className={styles.form}
            label={say.password}
            text={say.confirm}
            autoFocus
            send={async password => {
              await request('POST', '/api/auth/confirm', { body: { password } })
              end(true)
            }}
          />
        ) : (
          <AtProvider />
        )}
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
