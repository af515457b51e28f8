import { useState } from 'react'
import { TextField } from '../design/field.tsx'
import { reread } from '../session/api.ts'
import { registerPasskey } from '../session/passkeys.ts'
import { newRecoveryCodes } from '../session/recovery-codes.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { PasskeyButton, worksHere } from './passkey-button.tsx'
import styles from './second-factor.module.css'
import { useWaysToSignIn } from './sign-in-ways.ts'

const words = wordsOf({
  name: ['Name', '名称'],
  device: ['This device', '此设备'],
  register: ['Register a passkey', '注册通行密钥'],
})

/** Registers a passkey of this device; nothing where there are none. New recovery codes are shown afterwards. */
export function RegisterPasskey() {
  const say = useWords(words)
  const ways = useWaysToSignIn().data
  const [name, setName] = useState('')
  const register = async () => {
    const codes = await registerPasskey(name.trim() || say.device)
    if (codes.length > 0) newRecoveryCodes.set(codes)
    setName('')
    await reread('/api/auth/')
  }
  return (
    worksHere(ways) && (
      <div className={styles.form}>
        <TextField
          label={say.name}
          value={name}
          maxLength={64}
          placeholder={say.device}
          onChange={event => setName(event.target.value)}
        />
        <PasskeyButton text={say.register} ways={ways} use={register} />
      </div>
    )
  )
}
