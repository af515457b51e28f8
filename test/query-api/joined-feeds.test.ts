import test from 'ava'
import type { Feed } from '../../query-api/sse/feed.ts'
import { isBehind, joinFeeds } from '../../query-api/sse/place.ts'
import { frame } from '../../query-api/sse/sse.ts'

/** A feed of the numbers 1 to `newest`, read `perPage` at a time. */
const counting = (name: string, newest: number, perPage = 10): Feed => ({
  key: name,
  wakes: { projections: [name], key: null },
  async read(after) {
    const last = Math.max(after, Math.min(newest, after + perPage))
    const numbers = Array.from({ length: last - after }, (_, nth) => after + nth + 1)
    const text = numbers.map(n => frame(name, n, { n, text: 'id: 3\n' })).join('')
    const more = last < newest
    return { frames: text === '' ? null : Buffer.from(text), last, more, end: Buffer.from('end') }
  },
})

const idsIn = (frames: Buffer | null) => [...String(frames).matchAll(/^id: (.*)$/gm)].map(m => m[1])

test('an id of joined feeds holds the cursor of each', async t => {
  const joined = joinFeeds([counting('a', 2), counting('b', 12)])
  const page = await joined.read([0, 10])
  t.deepEqual(idsIn(page.frames), ['1-10', '2-10', '2-11', '2-12'])
  t.deepEqual(page.last, [2, 12])
})

test('resuming from any id of joined feeds gives exactly the frames after it', async t => {
  const joined = joinFeeds([counting('a', 5, 2), counting('b', 3, 1)])
  const framesFrom = async (place: readonly number[]) => {
    const events: string[] = []
    for (let at = place, more = true; more; ) {
      const page = await joined.read(at)
      events.push(
        ...[...String(page.frames ?? '').matchAll(/^event: (.*)\ndata: {"n":(\d+)/gm)].map(
          m => `${m[1]}${m[2]}`,
        ),
      )
      ;({ more, last: at } = page)
    }
    return events.sort()
  }
  const all = await framesFrom([0, 0])
  t.deepEqual(all, ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3'])
  for (const a of [0, 1, 5])
    for (const b of [0, 2, 3])
      t.deepEqual(
        await framesFrom([a, b]),
        all.filter(event => Number(event.slice(1)) > (event.startsWith('a') ? a : b)),
      )
})

test('joined feeds have more if any of them has, and only a single feed ends', async t => {
  const joined = joinFeeds([counting('a', 1), counting('b', 20)])
  const page = await joined.read([0, 0])
  t.true(page.more)
  t.is(page.end, null)
  t.is(String((await joinFeeds([counting('a', 1)]).read([0])).end), 'end')
})

test('a single feed keeps its ids', async t =>
  t.deepEqual(idsIn((await joinFeeds([counting('a', 2)]).read([0])).frames), ['1', '2']))

test('a cursor is behind another if any of its parts is', t => {
  t.true(isBehind([1, 9], [2, 3]))
  t.false(isBehind([2, 3], [2, 3]))
  t.false(isBehind([3, 3], [2, 3]))
})
