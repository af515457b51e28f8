import test from 'ava'
import fc from 'fast-check'
import { assignSlots } from '../../executor/slots.ts'

test('the lowest free indexes are taken first', t => {
  t.deepEqual(assignSlots(4, [], 2), [0, 1])
  t.deepEqual(assignSlots(4, [0, 2], 2), [1, 3])
})

test('a run gets all requested GPUs or none', t => {
  t.is(assignSlots(4, [0, 2], 3), null)
  t.is(assignSlots(0, [], 1), null)
})

test('a run without GPUs always fits', t => {
  t.deepEqual(assignSlots(4, [0, 1, 2, 3], 0), [])
  t.deepEqual(assignSlots(0, [], 0), [])
})

test('indexes held beyond the size of a shrunken node reduce nothing', t => {
  t.deepEqual(assignSlots(2, [2, 3], 2), [0, 1])
})

test('two runs never hold the same index, and no free one is withheld', t => {
  const wishes = fc.array(fc.nat(5), { maxLength: 20 })
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat(16), wishes, (total, wanted) => {
        const held: number[] = []
        for (const count of wanted) {
          const free = total - held.length
          const got = assignSlots(total, held, count)
          if ((got === null) !== free < count) return false
          held.push(...(got ?? []))
        }
        return new Set(held).size === held.length && held.every(index => index < total)
      }),
    ),
  )
})
