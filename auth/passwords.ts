import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { Refusal } from '../platform/refusal.ts'
import { isCommon } from './known-passwords.ts'

/** OWASP's floor for argon2id (the library's default algorithm): 19 MiB, 2 passes, 1 lane. */
const parameters = {
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
}
/** Each hash needs 19 MiB, so few run concurrently and few wait. */
const atOnce = 2
const maxWaiting = 32

const minBytes = 12
const maxBytes = 1024

/** Refuses a new password that is too short, too long, equal to the username, or common. */
export async function refuseBadPassword(password: string, username: string): Promise<void> {
  const text = password.normalize('NFKC')
  const bytes = Buffer.byteLength(text)
  if (bytes < minBytes || bytes > maxBytes)
    throw new Refusal(
      'invalid',
      `The password has ${bytes} bytes; it must have ${minBytes} to ${maxBytes}`,
    )
  const besidesName = text.toLowerCase().replaceAll(username.toLowerCase(), '')
  if (!/\p{L}/u.test(besidesName) && besidesName.length < text.length)
    throw new Refusal('invalid', 'The password must not be the username with digits')
  if (await isCommon(text))
    throw new Refusal('invalid', 'This password is too common; choose another')
}

/** A generated password of 144 random bits: 24 characters. */
export const madeUpPassword = (): string => randomBytes(18).toString('base64url')

export type Passwords = {
  /** A PHC string to store. */
  hash(password: string): Promise<string>
  /** Takes as long for an unknown person (`stored` null) as for a wrong password. */
  matches(password: string, stored: string | null): Promise<boolean>
}

export async function createPasswords(): Promise<Passwords> {
  const gate = createGate()
  const dummy = await hash('nobody signs in with this', parameters)
  return {
    hash: password => gate(() => hash(password.normalize('NFKC'), parameters)),
    matches: (password, stored) =>
      gate(async () => {
        const same = await verify(stored ?? dummy, password.normalize('NFKC'))
        return same && stored !== null
      }),
  }
}

/** At most `atOnce` hashes run; a finished one passes its place to the longest waiting. */
function createGate() {
  let running = 0
  const waiting: (() => void)[] = []
  const enter = async () => {
    if (running < atOnce) {
      running++
      return
    }
    if (waiting.length >= maxWaiting)
      throw new Refusal('rate_limited', 'Too many sign-ins at once; try again', {
        retryAfterSeconds: 2,
      })
    await new Promise<void>(resolve => waiting.push(resolve))
  }
  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
  return async <T>(work: () => Promise<T>): Promise<T> => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
