import { generate } from 'lean-qr'
import { useState, useSyncExternalStore } from 'react'
import type { Static } from 'typebox'
import type { totpBegun, totpSetUp } from '../../../../schemas/second-factors.ts'
import { Button } from '../design/button.tsx'
import { Copyable } from '../design/copy.tsx'
import { FormEnd } from '../design/form-end.tsx'
import { reread } from '../session/api.ts'
import { newRecoveryCodes } from '../session/recovery-codes.ts'
import { request } from '../session/session.ts'
import { useSubmit } from '../session/use-submit.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { CodeField } from './code-field.tsx'
import { PasswordForm } from './password-form.tsx'
import styles from './second-factor.module.css'

const words = wordsOf({
  password: ['Your password', '您的密码'],
  begin: ['Set up', '开始设置'],
  scan: [
    'Scan this code with your authenticator app, or enter the key.',
    '用身份验证器应用扫描此二维码，或手动输入密钥。',
  ],
  picture: ['QR code for the authenticator app', '身份验证器应用的二维码'],
  key: ['Key', '密钥'],
  open: ['Open it in an app on this device', '在本设备的应用中打开'],
  code: ['Code that the app shows', '应用显示的验证码'],
  confirm: ['Confirm', '确认'],
  keep: [
    'Keep these recovery codes in a safe place. They are shown only now; each signs in once in place of the app or a passkey.',
    '请妥善保存这些恢复码。它们仅显示这一次；每个恢复码可代替应用或通行密钥登录一次。',
  ],
  kept: ['I have kept them', '我已保存'],
})

type Begun = Static<typeof totpBegun>
type SetUp = Static<typeof totpSetUp>

/** Sets up an authenticator in three steps: the password, its first code, and the recovery codes. */
export function SetUpSecondFactor() {
  const codes = useSyncExternalStore(newRecoveryCodes.subscribe, newRecoveryCodes.get)
  const [begun, setBegun] = useState<Begun | null>(null)
  if (codes !== null) return <RecoveryCodes codes={codes} />
  if (begun === null) return <Begin onBegun={setBegun} />
  return <Confirm begun={begun} onDone={() => setBegun(null)} />
}

function Begin({ onBegun }: { onBegun: (begun: Begun) => void }) {
  const say = useWords(words)
  return (
    <PasswordForm
      className={styles.form}
      label={say.password}
      text={say.begin}
      send={async password =>
        onBegun(await request<Begun>('POST', '/api/auth/totp', { body: { password } }))
      }
    />
  )
}

function Confirm({ begun, onDone }: { begun: Begun; onDone: () => void }) {
  const say = useWords(words)
  const { onSubmit, ...sending } = useSubmit(async given => {
    const { recovery_codes } = await request<SetUp>('POST', '/api/auth/totp/confirm', {
      body: { code: given.get('code') },
    })
    newRecoveryCodes.set(recovery_codes)
    onDone()
    await reread('/api/auth/sessions')
  })
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <p>{say.scan}</p>
      <QrCode text={begun.otpauth_url} label={say.picture} />
      <p>
        {say.key}: <Copyable text={begun.secret} shown={inGroups(begun.secret)} />
      </p>
      <a href={begun.otpauth_url}>{say.open}</a>
      <CodeField label={say.code} name="code" inputMode="numeric" />
      <FormEnd {...sending} text={say.confirm} />
    </form>
  )
}

const inGroups = (secret: string) => secret.match(/.{1,4}/g)?.join(' ') ?? secret

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const say = useWords(words)
  const done = async () => {
    await reread('/api/auth/')
    newRecoveryCodes.set(null)
    // The page behind was refused its data until now.
    await reread('/')
  }
  return (
    <div className={styles.form}>
      <p role="status">{say.keep}</p>
      <ul className={styles.codes}>
        {codes.map(code => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Copyable text={codes.join('\n')} shown={`${codes[0]} …`} />
      <Button kind="main" onClick={() => void done()}>
        {say.kept}
      </Button>
    </div>
  )
}

/** Dark modules on white, with a margin, in light and dark themes: readers expect that. */
function QrCode({ text, label }: { text: string; label: string }) {
  const code = generate(text)
  const margin = 4
  const side = code.size + 2 * margin
  const at = Array.from({ length: code.size }, (_, index) => index)
  const dark = at.flatMap(y => at.filter(x => code.get(x, y)).map(x => `M${x} ${y}h1v1h-1z`))
  return (
    <svg
      className={styles.qr}
      role="img"
      aria-label={label}
      viewBox={`${-margin} ${-margin} ${side} ${side}`}
      shapeRendering="crispEdges"
    >
      <rect x={-margin} y={-margin} width={side} height={side} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
