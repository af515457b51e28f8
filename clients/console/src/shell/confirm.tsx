import { useState } from 'react'
import { Button } from '../design/button.tsx'
import { Dialog } from '../design/dialog.tsx'
import type { Refused } from '../session/confirmation.ts'
import { confirmByPasskey } from '../session/passkeys.ts'
import { request } from '../session/session.ts'
import { useLanguage, useWords, wordsOf } from '../words/words.ts'
import { nameOfAct } from './acts.ts'
import { PasskeyButton } from './passkey-button.tsx'
import { PasswordForm } from './password-form.tsx'
import { type Needed, neededOf, SecondStep } from './second-step.tsx'
import styles from './sign-in.module.css'
import { ProviderLink } from './sign-in.tsx'
import { useWaysToSignIn } from './sign-in-ways.ts'

const words = wordsOf({
  title: ['Confirm that it is you', '请确认是您本人'],
  needs: [
    (act: string) => `${act}: this needs a sign-in of the last 15 minutes.`,
    (act: string) => `${act}：需要最近 15 分钟内的登录。`,
  ],
  repeat: ['Then do it again.', '然后请重试该操作。'],
  password: ['Your password', '您的密码'],
  confirm: ['Confirm', '确认'],
  passkey: ['Use a passkey', '使用通行密钥'],
  cancel: ['Cancel', '取消'],
})

/** Asks who it is, while a request waits for that. */
export function Confirm({ refused: { method, path, by, end } }: { refused: Refused }) {
  const say = useWords(words)
  const language = useLanguage()
  const act = nameOfAct(method, path)?.[language === 'zh' ? 1 : 0] ?? `${method} ${path}`
  return (
    <Dialog title={say.title} onClose={() => end(false)}>
      <div className={styles.form}>
        <p>{say.needs(act)}</p>
        {by === 'password' ? <ByPassword onDone={() => end(true)} /> : <AtProvider />}
        <Button onClick={() => end(false)}>{say.cancel}</Button>
      </div>
    </Dialog>
  )
}

type Proven = { password: string; needed: Needed }

/** Asks for a second factor once the password was right and the server says that it needs one. */
function ByPassword({ onDone }: { onDone: () => void }) {
  const say = useWords(words)
  const ways = useWaysToSignIn().data
  const [proven, setProven] = useState<Proven | null>(null)
  const confirm = async (body: object) => {
    await request('POST', '/api/auth/confirm', { body })
    onDone()
  }
  if (proven !== null)
    return (
      <SecondStep
        needed={proven.needed}
        text={say.confirm}
        send={proof => confirm({ password: proven.password, ...proof })}
      />
    )
  return (
    <>
      <PasswordForm
        className={styles.form}
        label={say.password}
        text={say.confirm}
        autoFocus
        send={password =>
          confirm({ password }).catch(failure => {
            const needed = neededOf(failure)
            if (needed === null) throw failure
            setProven({ password, needed })
          })
        }
      />
      <PasskeyButton text={say.passkey} ways={ways} use={() => confirmByPasskey().then(onDone)} />
    </>
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
