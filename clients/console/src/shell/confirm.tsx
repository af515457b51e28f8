import { useState, useSyncExternalStore } from 'react'
import { Button } from '../design/button.tsx'
import { Dialog } from '../design/dialog.tsx'
import { FormEnd } from '../design/form-end.tsx'
import { type Refused, refused } from '../session/confirmation.ts'
import { ApiFailure } from '../session/failure.ts'
import { confirmByPasskey } from '../session/passkeys.ts'
import { request } from '../session/session.ts'
import { useSubmit } from '../session/use-submit.ts'
import { useLanguage, useWords, wordsOf } from '../words/words.ts'
import { nameOfAct } from './acts.ts'
import { CodeField } from './code-field.tsx'
import { PasskeyButton } from './passkey-button.tsx'
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
  code: ['Code of your authenticator, or a recovery code', '身份验证器的验证码或恢复码'],
  passkey: ['Use a passkey', '使用通行密钥'],
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
        {by === 'password' ? <ByPassword onDone={() => end(true)} /> : <AtProvider />}
        <Button onClick={() => end(false)}>{say.cancel}</Button>
      </div>
    </Dialog>
  )
}

/** Asks for a code once the password was right and the server says that it needs one. */
function ByPassword({ onDone }: { onDone: () => void }) {
  const say = useWords(words)
  const ways = useWaysToSignIn().data
  const [proven, setProven] = useState<string | null>(null)
  const confirm = async (body: object) => {
    await request('POST', '/api/auth/confirm', { body })
    onDone()
  }
  if (proven !== null) return <Code send={code => confirm({ password: proven, code })} />
  return (
    <>
      <PasswordForm
        className={styles.form}
        label={say.password}
        text={say.confirm}
        autoFocus
        send={password =>
          confirm({ password }).catch(failure => {
            const needsCode =
              failure instanceof ApiFailure && failure.code === 'second_factor.required'
            if (!needsCode) throw failure
            setProven(password)
          })
        }
      />
      <PasskeyButton text={say.passkey} ways={ways} use={() => confirmByPasskey().then(onDone)} />
    </>
  )
}

function Code({ send }: { send: (code: string) => Promise<unknown> }) {
  const say = useWords(words)
  const { onSubmit, ...sending } = useSubmit(given => send(String(given.get('code'))))
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <CodeField label={say.code} name="code" />
      <FormEnd text={say.confirm} {...sending} />
    </form>
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
