import test from 'ava'
import { rangeOf } from '../../../platform/http/range.ts'

test('a range is cut to the size of the file', t => {
  t.deepEqual(rangeOf('bytes=0-9', 100), { first: 0, last: 9 })
  t.deepEqual(rangeOf('bytes=90-', 100), { first: 90, last: 99 })
  t.deepEqual(rangeOf('bytes=90-1000', 100), { first: 90, last: 99 })
  t.deepEqual(rangeOf('bytes=-5', 100), { first: 95, last: 99 })
  t.deepEqual(rangeOf('bytes=-500', 100), { first: 0, last: 99 })
  t.deepEqual(rangeOf(' Bytes=99-99 ', 100), { first: 99, last: 99 })
})

test('a range without any byte of the file cannot be served', t => {
  for (const [header, size] of [
    ['bytes=100-', 100],
    ['bytes=100-200', 100],
    ['bytes=-0', 100],
    ['bytes=0-', 0],
    ['bytes=-1', 0],
  ] as const)
    t.is(rangeOf(header, size), 'none', header)
})

test('anything but a single byte range means the whole file', t => {
  for (const header of [
    '',
    'bytes=-',
    'bytes=5-4',
    'bytes=0-1,3-4',
    'lines=0-1',
    'bytes=a-b',
    'bytes=1.5-2',
    `bytes=0-${'9'.repeat(20)}`,
  ])
    t.is(rangeOf(header, 100), null, header)
})
