import test from 'ava'
import { murmur2, partitionOf } from '../../../platform/log/partition.ts'

// The vectors of Kafka's own test (clients/src/test/java/org/apache/kafka/common/utils/UtilsTest.java).
const vectors: [string, number][] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
]

for (const [key, hash] of vectors)
  test(`murmur2 of "${key}" is Kafka's`, t => {
    t.is(murmur2(Buffer.from(key)), hash)
  })

test('every partition is used and a key keeps its own', t => {
  const keys = Array.from({ length: 1000 }, (_, i) => `run-${i}`)
  const counts = [0, 0, 0, 0]
  for (const key of keys) {
    const partition = partitionOf(key, 4)
    t.is(partition, partitionOf(key, 4))
    counts[partition] = (counts[partition] ?? 0) + 1
  }
  for (const count of counts) t.true(count > 150, `${counts}`)
})
