import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Static } from 'typebox'
import type { signInConfig } from '../../../../schemas/sessions.ts'
import { Button } from '../design/button.tsx'
import { TextField } from '../design/field.tsx'
import { Failure } from '../design/notice.tsx'
import { ApiFailure } from '../session/failure.ts'
import { type Credentials, signIn, type Why } from '../session/session.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { CodeField } from './code-field.tsx'
import styles from './sign-in.module.css'

const words = wordsOf({
  title: ['Sign in to Forge', '登录 Forge'],
  username: ['Username', '用户名'],
  password: ['Password', '密码'],
  go: ['Sign in', '登录'],
  code: ['Code of your authenticator, or a recovery code', '身份验证器的验证码或恢复码'],
  verify: ['Verify', '验证'],
  back: ['Use another account', '使用其他账户'],
  provider: [(name: string) => `Sign in with ${name}`, (name: string) => `使用 ${name} 登录`],
  organisation: ['your organisation', '您的组织'],
  ended: ['Your sign-in has expired; sign in again to continue', '登录已失效，请重新登录以继续'],
  elsewhere: ['You signed out in another tab', '您已在另一个标签页退出登录'],
})

export const signInKey = 'sign-in'

type Config = Static<typeof signInConfig>

/** Reads the settings for signing in; the route needs no token. */
async function configOf(): Promise<Config> {
  const response = await fetch('/api/auth/config')
  if (!response.ok) throw new Error(`The server returned ${response.status}`)
  return (await response.json()) as Config
}

type Props = { why: Why | null; ask: boolean }

/** The page for people who are not signed in. */
export function SignInPage(props: Props) {
  const say = useWords(words)
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <h1>{say.title}</h1>
        <SignIn {...props} />
      </div>
    </main>
  )
}

/** The available ways to sign in. */
export function SignIn({ why, ask }: Props) {
  const say = useWords(words)
  const config = useQuery({ queryKey: [signInKey], queryFn: configOf, retry: true })
  const methods = config.data
  return (
    <div className={styles.form}>
      {methods?.notice && <p>{methods.notice}</p>}
      {why && <p role="alert">{typeof why === 'string' ? say[why] : why.said}</p>}
      {methods?.oidc.enabled && methods.oidc.login_url && (
        <a className={styles.elsewhere} href={providerAddress(methods.oidc.login_url, ask)}>
          {say.provider(methods.oidc.name ?? say.organisation)}
        </a>
      )}
      {methods?.password.enabled && <PasswordForm />}
    </div>
  )
}

function providerAddress(login: string, ask: boolean): string {
  const url = new URL(login, location.origin)
  url.searchParams.set('return_to', location.pathname + location.search)
  if (ask) url.searchParams.set('prompt', 'login')
  return url.href
}

function PasswordForm() {
  const say = useWords(words)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  /** The password was right, and the server asks for a code. */
  const [proven, setProven] = useState<Credentials | null>(null)
  const send = async (credentials: Credentials) => {
    setBusy(true)
    setError(null)
    try {
      await signIn(credentials)
    } catch (failure) {
      if (failure instanceof ApiFailure && failure.code === 'second_factor.required')
        setProven(credentials)
      else setError(failure)
      setBusy(false)
    }
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = Object.fromEntries(new FormData(event.currentTarget)) as Credentials
    void send({ ...proven, ...given })
  }
  if (proven !== null)
    return (
      <form key="code" className={styles.form} onSubmit={submit}>
        <CodeField label={say.code} name="code" />
        <Failure error={error} />
        <Button kind="main" type="submit" busy={isBusy}>
          {say.verify}
        </Button>
        <Button kind="quiet" onClick={() => setProven(null)}>
          {say.back}
        </Button>
      </form>
    )
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField label={say.username} name="username" autoComplete="username" autoFocus required />
      <TextField
        label={say.password}
        name="password"
        type="password"
        autoComplete="current-password"
        required
      />
      <Failure error={error} />
      <Button kind="main" type="submit" busy={isBusy}>
        {say.go}
      </Button>
    </form>
  )
}
