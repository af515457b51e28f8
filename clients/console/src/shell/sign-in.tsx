import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { signInConfig } from '../../../../schemas/sessions.ts'
import { Button } from '../design/button.tsx'
import { TextField } from '../design/field.tsx'
import { FormEnd } from '../design/form-end.tsx'
import { basePath } from '../session/base-path.ts'
import { ApiFailure } from '../session/failure.ts'
import { signInByPasskey } from '../session/passkeys.ts'
import { type Credentials, signIn, type Why } from '../session/session.ts'
import { useSubmit } from '../session/use-submit.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { CodeField } from './code-field.tsx'
import { PasskeyButton } from './passkey-button.tsx'
import styles from './sign-in.module.css'

const words = wordsOf({
  title: ['Sign in to Forge', '登录 Forge'],
  username: ['Username', '用户名'],
  password: ['Password', '密码'],
  go: ['Sign in', '登录'],
  passkey: ['Sign in with a passkey', '使用通行密钥登录'],
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
  const response = await fetch(`${basePath}/api/auth/config`)
  if (!response.ok) throw new Error(`The server returned ${response.status}`)
  return (await response.json()) as Config
}

export const useWaysToSignIn = () =>
  useQuery({ queryKey: [signInKey], queryFn: configOf, retry: true })

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
  const methods = useWaysToSignIn().data
  return (
    <div className={styles.form}>
      {methods?.notice && <p>{methods.notice}</p>}
      {why && <p role="alert">{typeof why === 'string' ? say[why] : why.said}</p>}
      {methods?.oidc.enabled && <ProviderLink ways={methods} ask={ask} />}
      {methods?.password.enabled && (
        <>
          <PasswordForm />
          <PasskeyButton text={say.passkey} ways={methods} use={signInByPasskey} />
        </>
      )}
    </div>
  )
}

/** `ask`: the provider must ask who it is, even if somebody is signed in there. */
export function ProviderLink({ ways: { oidc }, ask }: { ways: Config; ask: boolean }) {
  const say = useWords(words)
  return (
    oidc.login_url && (
      <a className={styles.elsewhere} href={providerAddress(oidc.login_url, ask)}>
        {say.provider(oidc.name ?? say.organisation)}
      </a>
    )
  )
}

function providerAddress(login: string, ask: boolean): string {
  const url = new URL(login, location.origin)
  url.searchParams.set('return_to', location.pathname + location.search)
  if (ask) url.searchParams.set('prompt', 'login')
  return url.href
}

/** Asks for a code once the password was right and the server says that it needs one. */
function PasswordForm() {
  const [proven, setProven] = useState<Credentials | null>(null)
  return proven === null ? (
    <NameAndPassword
      send={given =>
        signIn(given).catch(failure => {
          const needsCode =
            failure instanceof ApiFailure && failure.code === 'second_factor.required'
          if (!needsCode) throw failure
          setProven(given)
        })
      }
    />
  ) : (
    <Code send={code => signIn({ ...proven, code })} back={() => setProven(null)} />
  )
}

function NameAndPassword({ send }: { send: (given: Credentials) => Promise<unknown> }) {
  const say = useWords(words)
  const { onSubmit, ...sending } = useSubmit(given =>
    send(Object.fromEntries(given) as Credentials),
  )
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <TextField label={say.username} name="username" autoComplete="username" autoFocus required />
      <TextField
        label={say.password}
        name="password"
        type="password"
        autoComplete="current-password"
        required
      />
      <FormEnd text={say.go} {...sending} />
    </form>
  )
}

type CodeProps = { send: (code: string) => Promise<unknown>; back: () => void }

function Code({ send, back }: CodeProps) {
  const say = useWords(words)
  const { onSubmit, ...sending } = useSubmit(given => send(String(given.get('code'))))
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <CodeField label={say.code} name="code" />
      <FormEnd text={say.verify} {...sending} />
      <Button kind="quiet" onClick={back}>
        {say.back}
      </Button>
    </form>
  )
}
