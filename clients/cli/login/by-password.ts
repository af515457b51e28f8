import type { Api } from '../api/client.ts'
import { asksForCode } from '../api/confirmed.ts'
import { usageFailure } from '../program/failure.ts'
import type { Process } from '../program/process.ts'
import { linesOfStdin } from '../terminal/ask.ts'
import type { SignedIn } from './device-flow.ts'

/** The lines of standard input: the password, and perhaps the code of a second factor. */
export async function passwordAndCode(process: Process): Promise<[string, string | null]> {
  const [password = '', code = ''] = await linesOfStdin(process)
  if (password === '') throw usageFailure('Standard input is empty')
  return [password, code || null]
}

type Who = { username: string; password: string }

/** Asks for a code only if the server does. */
export async function signInByPassword(
  api: Api,
  who: Who,
  code: string | null,
  askForCode: () => Promise<string>,
): Promise<SignedIn> {
  const signIn = (body: object) => api.post<SignedIn>('/api/auth/login', body)
  if (code !== null) return signIn({ ...who, code })
  try {
    return await signIn(who)
  } catch (error) {
    if (!asksForCode(error)) throw error
  }
  return signIn({ ...who, code: await askForCode() })
}
