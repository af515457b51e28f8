import { useState } from 'react'
import type { Static } from 'typebox'
import type { signInConfig } from '../../../../schemas/sessions.ts'
import { Button } from '../design/button.tsx'
import { Failure } from '../design/notice.tsx'
import { hasPasskeys } from '../session/passkeys.ts'
import { useWords, wordsOf } from '../words/words.ts'

const words = wordsOf({
  refused: ['No passkey was used', '未使用通行密钥'],
})

type Props = {
  text: string
  /** How to sign in here, if that is known. */
  ways: Static<typeof signInConfig> | undefined
  use: () => Promise<unknown>
}

/** Acts with a passkey of this device; nothing where the browser or the installation has none. */
export function PasskeyButton({ text, ways, use }: Props) {
  const say = useWords(words)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const act = () => {
    setBusy(true)
    setError(null)
    use()
      // Browsers word a cancelled or expired request for developers.
      .catch(failure =>
        setError(failure instanceof DOMException ? new Error(say.refused) : failure),
      )
      .finally(() => setBusy(false))
  }
  return (
    worksHere(ways) && (
      <>
        <Button busy={isBusy} onClick={act}>
          {text}
        </Button>
        <Failure error={error} />
      </>
    )
  )
}

/** A browser has passkeys only for the host name of the page. */
export const worksHere = (ways: Props['ways']): boolean =>
  hasPasskeys() &&
  ways?.passkey.enabled === true &&
  new URL(ways.instance.console_url).hostname === location.hostname
