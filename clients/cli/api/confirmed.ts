import { Failure } from '../program/failure.ts'
import { isRecord } from '../program/is-record.ts'

export type Proof = { password: string; code?: string }

export type Confirming = {
  host: string
  /** Asks for the password; null if nobody can be asked. */
  askPassword: (() => Promise<string>) | null
  askCode: () => Promise<string>
  confirm: (proof: Proof) => Promise<unknown>
}

/**
 * Sends a request; if the sign-in is too old for it, asks for the password and sends it once more. The refused request had no
 * effect.
 */
export async function confirmed<T>(send: () => Promise<T>, confirming: Confirming): Promise<T> {
  const { host, askPassword, askCode, confirm } = confirming
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof Failure) || error.fields.code !== 'sign_in_again') throw error
    const { data } = error.fields
    if (isRecord(data) && data.confirm_with !== 'password')
      throw withHint(error, `forge login --host ${host}`)
    if (askPassword === null)
      throw withHint(error, `forge confirm --host ${host} asks for it, or reads --password-stdin`)
    await confirmWith({ password: await askPassword() }, { askCode, confirm })
    return await send()
  }
}

/** Asks for a code only if the server does. */
export async function confirmWith(
  proof: Proof,
  { askCode, confirm }: Pick<Confirming, 'askCode' | 'confirm'>,
): Promise<unknown> {
  try {
    return await confirm(proof)
  } catch (error) {
    if (!asksForCode(error) || proof.code !== undefined) throw error
  }
  return confirm({ ...proof, code: await askCode() })
}

/** People with a passkey and no authenticator have no code: their failure shows what to do instead. */
export function asksForCode(error: unknown): boolean {
  if (!(error instanceof Failure) || error.fields.code !== 'second_factor.required') return false
  const { data } = error.fields
  const methods = isRecord(data) && Array.isArray(data.methods) ? data.methods : ['totp']
  return methods.includes('totp')
}

const withHint = ({ exitCode, message, lines, fields }: Failure, hint: string): Failure =>
  new Failure(exitCode, message, { lines: [`hint: ${hint}`, ...lines], fields })
