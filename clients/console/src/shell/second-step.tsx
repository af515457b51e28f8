import { useRef } from 'react'
import { FormEnd } from '../design/form-end.tsx'
import { ApiFailure } from '../session/failure.ts'
import { signedBy } from '../session/passkeys.ts'
import { useSubmit } from '../session/use-submit.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { CodeField } from './code-field.tsx'
import { PasskeyButton, worksHere } from './passkey-button.tsx'
import styles from './sign-in.module.css'
import { useWaysToSignIn } from './sign-in-ways.ts'

const words = wordsOf({
  code: ['Code of your authenticator, or a recovery code', '身份验证器的验证码或恢复码'],
  recovery: ['Recovery code', '恢复码'],
  passkey: ['Use a passkey', '使用通行密钥'],
  also: ['Your password is right. Now your passkey:', '密码正确。现在请使用您的通行密钥：'],
  notHere: [
    (address: string) => `Your passkey works only at ${address}. Here, a recovery code does.`,
    (address: string) => `您的通行密钥只能在 ${address} 使用。在此处请使用恢复码。`,
  ],
})

/** What the server needs besides the password. `passkey`: what the browser must sign. */
export type Needed = { methods: readonly string[]; passkey: Record<string, unknown> | null }

/** Null if the request failed for another reason. */
export function neededOf(failure: unknown): Needed | null {
  if (!(failure instanceof ApiFailure) || failure.code !== 'second_factor.required') return null
  return failure.body.data as Needed
}

export type Proof = { code?: string; passkey?: unknown }

type Props = {
  needed: Needed
  /** On the button. */
  text: string
  /** Sends the password once more; without a proof, the server responds with a new challenge. */
  send: (proof: Proof) => Promise<unknown>
}

/** Asks for a passkey or a code, depending on the person, after the password was right. */
export function SecondStep({ needed, text, send }: Props) {
  const say = useWords(words)
  const ways = useWaysToSignIn().data
  const { onSubmit, ...sending } = useSubmit(given => send({ code: String(given.get('code')) }))
  const hasTotp = needed.methods.includes('totp')
  const hasPasskey = needed.methods.includes('passkey')
  const usePasskey = useFreshPasskey(needed, send)
  return (
    <>
      {hasPasskey && !hasTotp && (
        <p>{worksHere(ways) ? say.also : say.notHere(ways?.instance.console_url ?? '')}</p>
      )}
      {hasPasskey && <PasskeyButton text={say.passkey} ways={ways} use={usePasskey} />}
      <form className={styles.form} onSubmit={onSubmit}>
        <CodeField label={hasTotp ? say.code : say.recovery} name="code" />
        <FormEnd text={text} {...sending} />
      </form>
    </>
  )
}

/** A challenge is good for one response: after one that was refused, asks for another. */
function useFreshPasskey({ passkey }: Needed, send: Props['send']): () => Promise<void> {
  const fresh = useRef(passkey)
  return async () => {
    fresh.current ??= await askAgain(send)
    if (fresh.current === null) return
    const signed = await signedBy(fresh.current)
    fresh.current = null
    await send({ passkey: signed })
  }
}

async function askAgain(send: Props['send']): Promise<Needed['passkey']> {
  try {
    await send({})
    return null
  } catch (failure) {
    const needed = neededOf(failure)
    if (needed === null) throw failure
    return needed.passkey
  }
}
