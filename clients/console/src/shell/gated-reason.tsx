import { useState } from 'react'
import { Checkbox, TextField } from '../design/field.tsx'
import { visible } from '../words/visible.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './gated-reason.module.css'

type Props = {
  /** Whether benchmarks may refuse it. */
  isGated: boolean
  /** What the checkbox says. */
  override: string
  autoFocus?: boolean
}

/** The fields `reason` and `override`, for what benchmarks may refuse: an override needs a reason. */
export function GatedReason({ isGated, override, autoFocus = false }: Props) {
  const say = useWords(words)
  const [isOverriding, setOverriding] = useState(false)
  return (
    <>
      <TextField
        label={say.reason}
        name="reason"
        maxLength={1000}
        required={isGated && isOverriding}
        autoFocus={autoFocus}
      />
      {isGated && (
        <Checkbox
          label={override}
          name="override"
          checked={isOverriding}
          onChange={event => setOverriding(event.target.checked)}
        />
      )}
    </>
  )
}

/** Why something was done, and the benchmarks that it overrode. */
export function OverridingReason({ of }: { of: { reason: string; overridden: string[] } }) {
  const say = useWords(words)
  return (
    <div className={styles.reason}>
      {visible(of.reason)}
      {of.overridden.length > 0 && (
        <p className={styles.overrode}>
          {say.overrode} {of.overridden.join('; ')}
        </p>
      )}
    </div>
  )
}

const words = wordsOf({
  reason: ['Reason', '原因'],
  overrode: ['Overrode:', '已忽略：'],
})

/** What its form asks for. */
export const gatedReason = (given: FormData) => ({
  reason: String(given.get('reason')).trim(),
  override_gates: given.get('override') !== null,
})
