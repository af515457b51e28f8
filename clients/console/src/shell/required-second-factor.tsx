import { useSyncExternalStore } from 'react'
import { newRecoveryCodes } from '../session/recovery-codes.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { worksHere } from './passkey-button.tsx'
import { RegisterPasskey } from './register-passkey.tsx'
import styles from './second-factor.module.css'
import { SetUpSecondFactor } from './second-factor.tsx'
import { useWaysToSignIn } from './sign-in-ways.ts'

const words = wordsOf({
  title: ['Second factor', '两步验证'],
  why: [
    'This installation requires a second factor besides your password. Until you have set it up, you can do nothing else here.',
    '此系统要求在密码之外使用两步验证。设置完成之前，您无法进行其他操作。',
  ],
  passkey: ['A passkey of this device', '此设备的通行密钥'],
  app: ['Or an authenticator app', '或使用身份验证器应用'],
})

/** In place of every page, for people who must have a second factor and have none. */
export function RequiredSecondFactor() {
  const say = useWords(words)
  const ways = useWaysToSignIn().data
  const codes = useSyncExternalStore(newRecoveryCodes.subscribe, newRecoveryCodes.get)
  const offersPasskey = codes === null && worksHere(ways)
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      {codes === null && <p>{say.why}</p>}
      {offersPasskey && (
        <>
          <h2>{say.passkey}</h2>
          <RegisterPasskey />
          <h2>{say.app}</h2>
        </>
      )}
      <SetUpSecondFactor />
    </div>
  )
}
