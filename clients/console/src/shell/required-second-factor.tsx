import { useSyncExternalStore } from 'react'
import { newRecoveryCodes } from '../session/recovery-codes.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './second-factor.module.css'
import { SetUpSecondFactor } from './second-factor.tsx'

const words = wordsOf({
  title: ['Second factor', '两步验证'],
  why: [
    'This installation requires a second factor besides your password. Until you have set it up, you can do nothing else here.',
    '此系统要求在密码之外使用两步验证。设置完成之前，您无法进行其他操作。',
  ],
})

/** In place of every page, for people who must have a second factor and have none. */
export function RequiredSecondFactor() {
  const say = useWords(words)
  const codes = useSyncExternalStore(newRecoveryCodes.subscribe, newRecoveryCodes.get)
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      {codes === null && <p>{say.why}</p>}
      <SetUpSecondFactor />
    </div>
  )
}
