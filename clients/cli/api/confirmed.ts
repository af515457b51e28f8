import { Failure } from '../program/failure.ts'
import { isRecord } from '../program/is-record.ts'

export type Confirming = {
  host: string
  /** Asks for the password; null if nobody can be asked. */
  askPassword: (() => Promise<string>) | null
  confirm: (password: string) => Promise<unknown>
}

/**
 * Sends a request; if the sign-in is too old for it, asks for the password and sends it once more. The refused request had no
 * effect.
 */
export async function confirmed<T>(send: () => Promise<T>, confirming: Confirming): Promise<T> {
  const { host, askPassword, confirm } = confirming
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof Failure) || error.fields.code !== 'sign_in_again') throw error
    const { data } = error.fields
    if (isRecord(data) && data.confirm_with !== 'password')
      throw withHint(error, `forge login --host ${host}`)
    if (askPassword === null)
      throw withHint(error, `forge confirm --host ${host} asks for it, or reads --password-stdin`)
    await confirm(await askPassword())
    return await send()
  }
}

const withHint = ({ exitCode, message, lines, fields }: Failure, hint: string): Failure =>
  new Failure(exitCode, message, { lines: [`hint: ${hint}`, ...lines], fields })
