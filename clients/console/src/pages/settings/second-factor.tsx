import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { Button } from '../../design/button.tsx'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Ago } from '../../design/time.tsx'
import { reading, reread } from '../../session/api.ts'
import { newRecoveryCodes } from '../../session/recovery-codes.ts'
import { type Me, request } from '../../session/session.ts'
import { PasswordForm } from '../../shell/password-form.tsx'
import { SetUpSecondFactor } from '../../shell/second-factor.tsx'
import { useWords, wordsOf } from '../../words/words.ts'
import styles from './page.module.css'

const words = wordsOf({
  title: ['Second factor', '两步验证'],
  none: [
    'Besides the password, signing in can ask for a code of an authenticator app.',
    '除密码外，登录时还可要求输入身份验证器应用的验证码。',
  ],
  elsewhere: ['Your identity provider asks for second factors.', '两步验证由您的身份提供方负责。'],
  setUp: ['Set up', '已设置'],
  left: [
    (n: number) => `Recovery codes left: ${n}. For new ones, set the app up again.`,
    (n: number) => `剩余恢复码：${n} 个。如需新的恢复码，请重新设置身份验证器。`,
  ],
  passkeys: [
    (n: number) =>
      `Your passkeys are a second factor, too. Recovery codes left: ${n}. An authenticator app can be another one.`,
    (n: number) =>
      `您的通行密钥也可作为两步验证。剩余恢复码：${n} 个。您还可以设置身份验证器应用。`,
  ],
  again: ['Set up another app', '设置另一个应用'],
  password: ['Password, to remove it', '移除时需输入密码'],
  remove: ['Remove', '移除'],
})

/** The authenticator of the person who is signed in. */
export function SecondFactor() {
  const say = useWords(words)
  const me = useQuery(reading<Me>('/api/auth/me'))
  const codes = useSyncExternalStore(newRecoveryCodes.subscribe, newRecoveryCodes.get)
  return (
    <Panel title={say.title}>
      <Shown of={me}>
        {({ second_factor: { is_available, set_up_at, passkeys, recovery_codes_left } }) => {
          if (!is_available) return <p>{say.elsewhere}</p>
          if (set_up_at === null || codes !== null)
            return (
              <>
                {codes === null && (
                  <p>{passkeys > 0 ? say.passkeys(recovery_codes_left) : say.none}</p>
                )}
                <SetUpSecondFactor />
              </>
            )
          return (
            <>
              <p>
                {say.setUp} <Ago at={set_up_at} />. {say.left(recovery_codes_left)}
              </p>
              <Another />
              <Removal />
            </>
          )
        }}
      </Shown>
    </Panel>
  )
}

/** For another device, or new recovery codes; the app in use stays valid until its successor is confirmed. */
function Another() {
  const say = useWords(words)
  const [isOpen, setOpen] = useState(false)
  return isOpen ? (
    <SetUpSecondFactor />
  ) : (
    <div>
      <Button onClick={() => setOpen(true)}>{say.again}</Button>
    </div>
  )
}

function Removal() {
  const say = useWords(words)
  return (
    <PasswordForm
      className={styles.form}
      label={say.password}
      text={say.remove}
      send={async password => {
        await request('POST', '/api/auth/totp/remove', { body: { password } })
        await reread('/api/auth/me')
      }}
    />
  )
}
