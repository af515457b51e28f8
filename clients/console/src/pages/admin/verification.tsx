import { type FormEvent, useState } from 'react'
import type { AuditVerdict } from '../../../../../schemas/audit.ts'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { TextField } from '../../design/field.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { addressOf } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

/** Checks that no event was changed afterwards, and that the record still contains a head that was kept elsewhere. */
export function Verification() {
  const say = useWords(words)
  const { send, error, isBusy } = useChange()
  const [verdict, setVerdict] = useState<AuditVerdict | null>(null)
  const verify = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const head = String(new FormData(event.currentTarget).get('head')).trim()
    setVerdict(null)
    setVerdict((await send<AuditVerdict>('GET', addressOf('/api/audit/verify', { head }))) ?? null)
  }
  return (
    <Panel title={say.verification}>
      <form className={styles.filters} onSubmit={event => void verify(event)}>
        <TextField
          label={say.savedHead}
          name="head"
          placeholder="HASH@POSITION"
          autoComplete="off"
        />
        <Button type="submit" busy={isBusy}>
          {say.verify}
        </Button>
        <div className={styles.verdict}>
          <Failure error={error} />
          {verdict && <Verdict verdict={verdict} />}
        </div>
      </form>
    </Panel>
  )
}

function Verdict({ verdict: { first_bad, checked, head, waiting } }: { verdict: AuditVerdict }) {
  const say = useWords(words)
  if (first_bad !== null)
    return (
      <p className={styles.warn} role="alert">
        {say.isBroken(first_bad.kind, first_bad.position)} {first_bad.detail}
      </p>
    )
  return (
    <p role="status">
      {head === null ? (
        say.noEvents
      ) : (
        <>
          {say.isWhole(checked)} <Copyable text={head} />
        </>
      )}{' '}
      {waiting > 0 && say.notYet(waiting)}
    </p>
  )
}
