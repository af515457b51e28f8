import { reread } from '../session/api.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { ChangePassword } from './change-password.tsx'
import styles from './second-factor.module.css'

const words = wordsOf({
  title: ['Choose your password', '设置您的密码'],
  why: [
    'Your password was generated for you, so somebody else may have seen it. Replace it with one that only you know; until then, you can do nothing else here.',
    '您的密码由系统生成，可能已被他人看到。请更换为只有您自己知道的密码；在此之前，您无法进行其他操作。',
  ],
})

/** In place of every page, for people whose password was generated. */
export function RequiredPassword() {
  const say = useWords(words)
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      <p>{say.why}</p>
      <ChangePassword onDone={() => reread('/')} />
    </div>
  )
}
