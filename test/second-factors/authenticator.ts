import { createHmac } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const stepMs = 30_000

/** The code that an authenticator with this secret shows at a time: RFC 6238, apart from the code under test. */
export function codeAt(secret: string, ms: number): string {
  const bits = [...secret].map(letter => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
  const key = Buffer.from(
    bits
      .join('')
      .match(/.{8}/g)
      ?.map(byte => Number.parseInt(byte, 2)) ?? [],
  )
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(ms / stepMs)))
  const mac = createHmac('sha1', key).update(counter).digest()
  const at = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

export const newCode = (secret: string): string => codeAt(secret, Date.now())

/** The code of the next step, which servers accept early: tests need not wait for it. */
export const nextCode = (secret: string): string => codeAt(secret, Date.now() + stepMs)

export const wrongCode = (secret: string, ms: number): string => {
  const right = [-1, 0, 1].map(step => codeAt(secret, ms + step * stepMs))
  return ['123456', '123457', '123458', '123459'].find(code => !right.includes(code)) ?? ''
}
