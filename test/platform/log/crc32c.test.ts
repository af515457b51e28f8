import test from 'ava'
import { crc32c } from '../../../platform/log/crc32c.ts'

test('the check value of CRC-32C and the vectors of RFC 3720 appendix B.4 match', t => {
  t.is(crc32c(Buffer.from('123456789')), 0xe3069283)
  t.is(crc32c(Buffer.alloc(32)), 0x8a9136aa)
  t.is(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43)
  t.is(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i))), 0x46dd794e)
  t.is(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i))), 0x113fdb5c)
})

test('every length agrees with the definition, bit by bit', t => {
  for (let length = 0; length < 40; length++) {
    const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 151 + length) & 0xff))
    t.is(crc32c(bytes), bitByBit(bytes), `${length} bytes`)
  }
})

function bitByBit(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return ~crc >>> 0
}
