import test from 'ava'
import fc from 'fast-check'
import { isTimestamp, parseTimestamp, toTimestamp } from '../../schemas/timestamp.ts'

const taken: [string, string][] = [
  ['2026-11-20T19:26:53+00:00', '2026-11-20T19:26:53.000Z'],
  ['2026-11-20T19:26:53Z', '2026-11-20T19:26:53.000Z'],
  ['2026-11-20t19:26:53z', '2026-11-20T19:26:53.000Z'],
  ['2026-11-20 19:26:53+00:00', '2026-11-20T19:26:53.000Z'],
  ['2026-11-20T19:26+00:00', '2026-11-20T19:26:00.000Z'],
  ['2026-11-20T19:26:53.1+00:00', '2026-11-20T19:26:53.100Z'],
  ['2026-11-20T19:26:53.123456789-05:30', '2026-11-21T00:56:53.123Z'],
  ['2026-11-20T00:00:00+1400', '2026-11-19T10:00:00.000Z'],
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
  ['1969-12-31T23:59:59.001Z', '1969-12-31T23:59:59.001Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0099-03-01T00:00:00Z', '0099-03-01T00:00:00.000Z'],
]
for (const [text, instant] of taken)
  test(`${text} is ${instant}`, t => {
    t.is(new Date(parseTimestamp(text)).toISOString(), instant)
    t.true(isTimestamp(text))
  })

const refused = [
  '',
  '2026-11-20',
  '2026-11-20T19:26:53',
  '2026-11-20T19:26:53.+00:00',
  '2026-11-20T19:26:53.1234567890Z',
  '2026-11-20T19:26.5Z',
  '2026-02-30T00:00:00Z',
  '2025-02-29T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-13-10T00:00:00Z',
  '2026-11-00T00:00:00Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T19:60:00Z',
  '2026-11-20T19:26:60Z',
  '2026-11-20T19:26:53+24:00',
  '2026-11-20T19:26:53+00:60',
  '2026-11-20T19:26:53+0000x',
  '2026-11-20T19:26:53Zx',
  '2026-11-20T19:26:53 Z',
  '2026-11-20T19:26:53+0:00',
  '2026/11/20T19:26:53Z',
  '2026-11-20X19:26:53Z',
  '٢٠٢٦-11-20T19:26:53Z',
  '+002026-11-20T19:26:53Z',
  ' 2026-11-20T19:26:53Z',
  '1790000000',
]
for (const text of refused)
  test(`'${text}' is not a timestamp`, t => {
    t.false(isTimestamp(text))
  })

test('every instant of the years 1 to 9999 reads as Date.parse reads it, in any offset', t => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date('0001-01-02T00:00:00Z'),
        max: new Date('9999-12-30T00:00:00Z'),
        noInvalidDate: true,
      }),
      fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }),
      (at, offset) => {
        const sign = offset < 0 ? '-' : '+'
        const pad = (n: number) => String(n).padStart(2, '0')
        const size = Math.abs(offset)
        const text = `${at.toISOString().slice(0, 23)}${sign}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
        t.is(parseTimestamp(text), Date.parse(text), text)
      },
    ),
  )
})

test('a formatted timestamp is parsed as the same second', t => {
  const at = new Date('2026-11-20T19:26:53.999Z')
  t.is(toTimestamp(at), '2026-11-20T19:26:53+00:00')
  t.is(parseTimestamp(toTimestamp(at)), Math.floor(at.getTime() / 1000) * 1000)
})
