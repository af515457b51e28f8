import test from 'ava'
import { readLz4Frame } from '../../../platform/log/lz4.ts'
import { readSnappy } from '../../../platform/log/snappy.ts'

const text = `${'loss accuracy '.repeat(40)}${'0123456789'.repeat(7)}${'loss accuracy '.repeat(30)}`

/** Written by other implementations: liblz4 with blocks that refer to each other and all checksums, and librdkafka's way. */
const foreign = {
  lz4: 'BCJNGHxAGgQAAAAAAABMLQAAAO9sb3NzIGFjY3VyYWN5IA4A//8RrzAxMjM0NTY3ODkKACkPaAL/jVByYWN5IKFy5toAAAAAv/wL+w==',
  lz4Stored: 'BCJNGGBAggMAAIBhYmMAAAAA',
  snappy:
    'mgg0bG9zcyBhY2N1cmFjeSD+DgD+DgD+DgD+DgD+DgD+DgD+DgD+DgCGDgAkMDEyMzQ1Njc4Oe4KAP5oAv5oAv5oAv5oAv5oAv5oAo5oAg==',
}
const bytesOf = (name: keyof typeof foreign) => Buffer.from(foreign[name], 'base64')
const limit = 1_000_000

test('data written by other implementations is read', t => {
  t.is(readLz4Frame(bytesOf('lz4'), limit).toString(), text)
  t.is(readLz4Frame(bytesOf('lz4Stored'), limit).toString(), 'abc')
  t.is(readSnappy(bytesOf('snappy'), limit).toString(), text)
})

const readers = [
  ['LZ4', readLz4Frame, bytesOf('lz4')],
  ['Snappy', readSnappy, bytesOf('snappy')],
] as const

for (const [name, read, bytes] of readers) {
  test(`${name} that unpacks to more than the limit is refused`, t => {
    t.is(read(bytes, text.length).length, text.length)
    t.throws(() => read(bytes, text.length - 1), { message: /expands to more than \d+ bytes/ })
  })

  test(`${name} that is cut off or changed anywhere ends, within the limit`, t => {
    let refused = 0
    const tryToRead = (hostile: Buffer) => {
      try {
        t.true(read(hostile, limit).length <= limit)
      } catch (error) {
        refused++
        t.true(error instanceof Error)
      }
    }
    for (let end = 0; end < bytes.length; end++) tryToRead(bytes.subarray(0, end))
    for (let at = 0; at < bytes.length; at++)
      for (const value of [0, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(bytes)
        changed[at] = value
        tryToRead(changed)
      }
    t.true(refused > bytes.length / 2, `${refused} were refused`)
  })
}

test('a copy from before the beginning is refused', t => {
  t.throws(() => readSnappy(Buffer.from([4, 0x09, 0x01]), limit), { message: /before its start/ })
})
